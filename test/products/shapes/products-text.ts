import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';

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

/** What no other document says of them; `test/golden/products` works them out by it in Python. */
const FIGURES = `## Figures

Numbers are exact decimals, rounded with halves away from zero.

- **Class**: the worst one whose start the value reaches. A value on a start is in the worse or the milder class, as the \`edge\` of
  the scale says; on an entity's own threshold in the worse one. Before the first own threshold lies a class \`below-\` of its name.
- \`distance_to_action\`: from the value to the start of the action class, negative beyond it. \`pct_to_action\`: the value in percent
  of that start, on a scale that falls the start in percent of the value; one decimal.
- \`normalized_index\`: 100 times the number of milder classes plus the share of its own class that is passed (0 to 1), divided by the
  number of classes; one decimal. The last class is as wide as the one before it. A first class without a start begins at 0, or at a
  value below 0.
- \`change\`: the newest reading less the one before; \`period\` is the ISO 8601 duration from one to the other.
- **Season**: the readings within 15 days of the same calendar day in each of the five years before. With fewer than 10 there are no
  statistics. \`window_years\` counts the years that have one. A percentile is the share of them below the value, with half of the
  equal ones; three decimals. It is called "much below normal" below 0.1, "below normal" below 0.25, "normal" up to 0.75, "above
  normal" up to 0.9, and "much above normal". \`percentile_table\` names the value of the rank, from the smallest, that is P % of
  \`n\`, rounded up. A \`share\` of a class has three decimals.
- \`source_agreement_cv\`: standard deviation over mean of the sources that are independent, relay nobody and give a value, all at one
  \`as_of\`; four decimals, null for fewer than two.
- \`leg_availability.available\`: legs with a reading, also an old one. The \`provenance\` of a life cycle is that of its first record.
- **State of a stablecoin**: \`dead\` or \`absent\` (AUDIT.md, membership), else \`missing\` from the first capture day without it, else
  \`at_risk\` while it is depegged. \`terminated\` is true of a dead one alone. \`lifespan_days\` of a graveyard are those from
  \`first_seen\` to \`last_seen\`, unless its source states them.
`;

/** PRODUCTS.md, as the catalogue and the answers make it. */
export function productsText({ operations }: Catalog, examples: readonly Example[]): string {
  const sections = operations.map((row) => {
    const own = examples.filter(({ target }) => target.split('?', 1)[0] === row.path);
    return [`## \`${row.path}\``, rowText(row), ...own.map(exampleText)].join('\n\n');
  });
  return `${[HEAD.trimEnd(), FIGURES.trimEnd(), ...sections].join('\n\n')}\n`;
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
