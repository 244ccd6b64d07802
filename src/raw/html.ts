import { randomBytes } from "node:crypto";
import { Uri, type Webview } from "vscode";

/** The page without any data: it asks for that itself once it runs. */
export function rawHtml(webview: Webview, extensionUri: Uri): string {
  const uri = (...path: string[]): string => webview.asWebviewUri(Uri.joinPath(extensionUri, ...path)).toString();
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    // Rows and columns are placed by the script through the style objects of their elements, which no policy is about.
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Raw Storage File</title>
  <link rel="stylesheet" href="${uri("dist", "codicon.css")}">
  <link rel="stylesheet" href="${uri("media", "raw.css")}">
</head>
<body>
  <div id="announcements" class="visually-hidden" role="status" aria-live="polite"></div>
  <main id="page"><h1 class="visually-hidden">Raw storage file</h1></main>
  <script nonce="${nonce}" src="${uri("dist", "raw.js")}"></script>
</body>
</html>`;
}
