import { randomBytes } from "node:crypto";
import { Uri, type Webview } from "vscode";

/** The page without any data: it asks for that itself once it runs. */
export function paneHtml(webview: Webview, extensionUri: Uri): string {
  const uri = (...path: string[]): string => webview.asWebviewUri(Uri.joinPath(extensionUri, ...path)).toString();
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
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
  <title>Dead Task</title>
  <link rel="stylesheet" href="${uri("dist", "codicon.css")}">
  <link rel="stylesheet" href="${uri("media", "detail.css")}">
  <link rel="stylesheet" href="${uri("media", "values.css")}">
</head>
<body>
  <div id="announcements" class="visually-hidden" role="status" aria-live="polite"></div>
  <main id="pane"></main>
  <script nonce="${nonce}" src="${uri("dist", "detail.js")}"></script>
</body>
</html>`;
}
