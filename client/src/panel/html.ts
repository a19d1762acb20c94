/** What the page of the panel is made of; the strings come from VS Code's webview. */
export interface PageParts {
  /** `webview.cspSource`: the only origin that scripts' and styles' files come from. */
  readonly cspSource: string;
  readonly script: string;
  readonly style: string;
  /** Unguessable, new for each page. */
  readonly nonce: string;
}

/**
 * The page: nothing but our own script and style sheet may load, nothing may be sent anywhere, and nothing in it comes
 * from a cluster. What is shown arrives later, as messages, and is drawn as text.
 */
export function panelHtml({ cspSource, script, style, nonce }: PageParts): string {
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    // Pictures of charts are made in the page itself.
    `img-src ${cspSource} data: blob:`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${escapeHtml(style)}">
<title>Plimsoll</title>
</head>
<body>
<div id="app"></div>
<script nonce="${escapeHtml(nonce)}" src="${escapeHtml(script)}"></script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
