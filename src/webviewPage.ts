import { randomBytes } from "node:crypto";
import { Uri, type Webview } from "vscode";

/** What a page of ours consists of. */
export interface WebviewPage {
  readonly title: string;
  /** Names in `media`; the icons' style sheet and that of all pages come by themselves. */
  readonly styles: readonly string[];
  /** Name in `dist`. */
  readonly script: string;
  /** HTML of ours, without any data: the page asks for that itself once it runs. */
  readonly body: string;
}

/**
 * The page under a policy that lets it load our own styles, icons and script, and nothing else. Whatever a script places through
 * the style objects of elements no policy is about.
 */
export function webviewHtml(webview: Webview, extensionUri: Uri, { title, styles, script, body }: WebviewPage): string {
  const uri = (...path: string[]): string => webview.asWebviewUri(Uri.joinPath(extensionUri, ...path)).toString();
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  const sheets = [uri("dist", "codicon.css"), ...["page.css", ...styles].map((name) => uri("media", name))];
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
${sheets.map((sheet) => `  <link rel="stylesheet" href="${sheet}">`).join("\n")}
</head>
<body>
  <div id="announcements" class="visually-hidden" role="status" aria-live="polite"></div>
  ${body}
  <script nonce="${nonce}" src="${uri("dist", script)}"></script>
</body>
</html>`;
}
