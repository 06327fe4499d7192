import { html, sitePage } from '../../compiler/contract/html.ts';
import type { PageHead } from '../release/page-parts.ts';

/** A look-up as a page for people. */
export function verifyPage(
  { statement, endpoint, ...facts }: { readonly statement: string; readonly endpoint: string },
  shop: PageHead,
): string {
  const rows = Object.entries(facts).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return html`<tr><th scope="row">${name}</th><td>${text}</td></tr>\n`;
  });
  const title = `Record look-up, ${shop.issuerName}`;
  return sitePage({
    title,
    description: statement,
    ...shop,
    path: '/v/',
    script: null,
    isListed: false,
    main: html`<h1>${title}</h1><p>${statement}</p><div class="scroll" tabindex="0" role="region" aria-label="What is known"><table>${rows}</table></div>`,
  });
}
