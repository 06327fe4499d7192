const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

/** A look-up as a page for people, without scripts or anything from elsewhere. */
export function verifyPage(
  { statement, endpoint, ...facts }: { readonly statement: string; readonly endpoint: string },
  issuerName: string,
): string {
  const rows = Object.entries(facts).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(text)}</td></tr>`;
  });
  const title = escapeHtml(`Record look-up, ${issuerName}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
th{text-align:left;padding-right:1rem;vertical-align:top}td{overflow-wrap:anywhere}</style></head>
<body><h1>${title}</h1><p>${escapeHtml(statement)}</p><table>${rows.join('\n')}</table></body></html>
`;
}
