import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import type { Endpoint } from '../../compiler/products/product.ts';

/** A request of the shop of the examples, with what it is answered. */
interface Example {
  readonly target: string;
  readonly answer: string;
}

const HEAD = `# Products: every operation, its file, its citation, an example to the byte

A test writes this document from the table of operations and from a small shop (\`vitest --update\`). FORMAT.md says how a body is
verified, AUDIT.md what it is made of. The examples are signed by the key of FORMAT.md, section 10, asked for at 2026-11-20T12:15:12Z
with \`proof=0\`, and stand without a line end (a CSV with LF in place of CR LF).
`;

/** PRODUCTS.md, as the catalogue and the answers make it. */
export function productsText({ operations }: Catalog, examples: readonly Example[]): string {
  const sections = operations.map((row) => {
    const own = examples.filter(({ target }) => target.split('?', 1)[0] === row.path);
    return [`## \`${row.path}\``, rowText(row), ...own.map(exampleText)].join('\n\n');
  });
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}

function rowText({ method, priceUsd, token, file, summary, params }: Endpoint): string {
  const price = token ? 'with a token' : priceUsd === null ? 'free' : 'paid';
  const place = file === undefined ? 'computed at the request' : `file \`${file}\``;
  const rows = Object.entries(params).map(([name, { required, description, default: given }]) => {
    const need = required ? 'required' : given === undefined ? 'optional' : `default \`${given}\``;
    return `- \`${name}\` (${need}): ${description}`;
  });
  return [
    `${method}, ${price}, ${place}. ${summary}`,
    ...(rows.length > 0 ? ['', ...rows] : []),
  ].join('\n');
}

function exampleText({ target, answer }: Example): string {
  const kind = answer.startsWith('#') ? 'csv' : 'json';
  return `**Example: \`${target}\`**\n${citedText(answer)}\`\`\`${kind}\n${answer.replaceAll('\r\n', '\n')}\n\`\`\``;
}

/** What its citation states, in the words that a list of products is searched for. */
function citedText(answer: string): string {
  const [, claim, fact] =
    /"claim":("(?:[^"\\]|\\.)*"),"fact":("(?:[^"\\]|\\.)*")/.exec(answer) ?? [];
  return claim === undefined || fact === undefined
    ? ''
    : `Its citation: ${JSON.parse(claim)}; ${JSON.parse(fact)}.\n`;
}
