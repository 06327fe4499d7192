import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { BUILTIN } from '../contract/catalog/builtin.ts';
import {
  type CatalogFile,
  catalogSchemaText,
  formatFaults,
} from '../contract/catalog/catalog-file.ts';
import { catalogFaults } from '../contract/catalog/check-catalog.ts';
import { builtinRest } from '../contract/catalog/whole-catalog.ts';
import { CATALOG_FOLDER, SCHEMA_NAME } from '../stages/intake/load-catalog.ts';
import { FIRST_ENTITY, shopCatalog } from './shop-catalog.ts';
import { shopBatch } from './shop-readings.ts';
import { tidyJson } from './tidy-json.ts';

/** What a new shop is to be. */
interface NewShop {
  /** A folder that does not exist, or is empty. */
  readonly folder: string;
  /** The id of its line. */
  readonly line: string;
  readonly extended: 'builtin' | null;
  /** Milliseconds since 1970: when its invented readings were collected. */
  readonly nowMs: number;
}

const LINE = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PORT = 4021;

/**
 * Writes a shop that compiles and sells as it stands; returns what to do next. Throws a RangeError for a name that no line
 * can have and for a folder that holds anything: nothing is ever overwritten.
 */
export function newShop(shop: NewShop): string {
  const catalog = shopCatalog(shop.line, shop.extended);
  refuseName(shop.line, catalog);
  refuseFolder(shop.folder);
  for (const [path, text] of Object.entries(filesOf(shop, catalog))) {
    const full = join(shop.folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text, { flag: 'wx' });
  }
  return nextText(shop);
}

function refuseName(line: string, catalog: CatalogFile): void {
  const refuse = (state: string): never => {
    throw new RangeError(`Cannot make a line "${line}": ${state}`);
  };
  if (!LINE.test(line)) {
    refuse('not a name in lower-case letters and digits with - between; pass one such as tides');
  }
  if (BUILTIN.lineById.has(line)) {
    refuse('the built-in catalogue has a line of that name; pass another');
  }
  const file = { file: `${line}.json`, value: catalog };
  const rest = { file: 'built-in', value: builtinRest([catalog]) };
  const joined = catalog.extends === null ? [file] : [rest, file];
  const [fault] = [...formatFaults(file), ...catalogFaults(joined)];
  if (fault !== undefined) refuse(`${fault.reason} (${fault.pointer}); pass another name`);
}

function refuseFolder(folder: string): void {
  if (/[\p{Cc}'"\\]/u.test(resolve(folder))) {
    throw new RangeError(
      `Cannot make a shop in ${JSON.stringify(folder)}: its path holds a quote, a backslash or a control character; name another folder`,
    );
  }
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  throw new RangeError(
    `Cannot make a shop in "${folder}": the folder is not empty, and nothing is overwritten; name a new folder`,
  );
}

function filesOf(shop: NewShop, catalog: CatalogFile): Readonly<Record<string, string>> {
  const { batch, files } = shopBatch(shop.line, shop.nowMs);
  const readings = Object.entries(files).map(([name, text]) => [
    `snapshots/${batch}/${name}`,
    text,
  ]);
  return {
    [`snapshots/${CATALOG_FOLDER}/${shop.line}.json`]: `${tidyJson(catalog)}\n`,
    [`snapshots/${SCHEMA_NAME}`]: catalogSchemaText(),
    ...Object.fromEntries(readings),
    'shop.env': settingsText(shop),
    '.gitignore': 'issuer.key\ndist-data/\nstate/\n',
    'README.md': readmeText(shop, batch),
  };
}

/** Settings of both programs, as a shell and systemd read them. */
function settingsText({ folder }: NewShop): string {
  const root = resolve(folder);
  return `# Settings of this shop, for signalpress and signalpress-gate.
# It serves this machine alone, and payments are simulated: no money moves.
SIGNALPRESS_HOST=127.0.0.1
SIGNALPRESS_PORT=${PORT}
SIGNALPRESS_BASE_URL=http://127.0.0.1:${PORT}
SIGNALPRESS_ISSUER_NAME='Example shop'
SIGNALPRESS_ISSUER_KEY='${root}/issuer.key'
SIGNALPRESS_DATA='${root}/dist-data'
SIGNALPRESS_STATE='${root}/state'
SIGNALPRESS_NETWORK=base-sepolia

# To be paid, set the public address above, and these two; then compile again:
# SIGNALPRESS_PAY_TO=0x…
# SIGNALPRESS_FACILITATOR_URL=https://…
`;
}

/** A word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text}'`;
}

/** The commands that lead from the files to a record that was bought and verified, in two terminals. */
function commandsOf({ folder, line }: NewShop): { readonly shop: string; readonly buyer: string } {
  const at = (path: string): string => quoted(join(folder, path));
  // A shell looks for a file without a slash among its programs.
  const settings = at('shop.env').includes('/') ? at('shop.env') : `./${at('shop.env')}`;
  const issuer = `"$(grep -o 'did:key:[^ ]*' ${at('issuer.txt')})"`;
  const target = `http://127.0.0.1:${PORT}/gauge?signal_id=${line}.level&entity=${FIRST_ENTITY}`;
  return {
    shop: `set -a; . ${settings}; set +a
npx signalpress check --snapshots ${at('snapshots')}
npx signalpress keygen ${at('issuer.key')} > ${at('issuer.txt')}
npx signalpress compile --snapshots ${at('snapshots')}
npx signalpress-gate`,
    buyer: `npx signalpress buy '${target}' --issuer ${issuer} > ${at('answer.json')}
npx signalpress verify ${at('answer.json')} --issuer ${issuer}`,
  };
}

function nextText(shop: NewShop): string {
  const { shop: own, buyer } = commandsOf(shop);
  return `Made a shop in "${shop.folder}"; its README.md says what to edit.

Check, sign and serve it:
${indented(own)}

Buy from it, in another terminal, in the same folder:
${indented(buyer)}`;
}

const indented = (text: string): string => text.replaceAll(/^/gm, '  ');

function readmeText(shop: NewShop, batch: string): string {
  const { line, extended } = shop;
  const { shop: own, buyer } = commandsOf(shop);
  const beside =
    extended === null
      ? 'It sells this line and nothing else (`"extends": null`).'
      : 'It adds this line to the built-in catalogue (`"extends": "builtin"`), and sells what you store readings of.';
  return `# A shop of one line: ${line}

Everything here is an example, invented. ${beside}

## What to edit

1. \`snapshots/${CATALOG_FOLDER}/${line}.json\`: what you measure, of whom, by which thresholds, and the prices in USD. An
   editor that knows JSON Schema completes and explains every member by \`snapshots/${SCHEMA_NAME}\`.
2. \`snapshots/${batch}/\`: your readings, one file a signal, in a folder named after the day of their collection.
   \`npx signalpress lines --snapshots ${quoted(join(shop.folder, 'snapshots'))} ${line}\` shows what a reading may hold.
3. \`shop.env\`: your name, the address, and who is paid. Payments are simulated until you name a payee and a facilitator.

After each edit, run \`check\` and \`compile\` again. A running gatekeeper takes the new release by itself.

Remove the invented batch before you sell: whatever lies in \`snapshots/\` is signed in your name. If you compiled the example
already, remove \`dist-data/\` and \`state/\` too, because what was sold is protected against changes of the catalogue.

## From here to a sale, where you ran init

\`\`\`sh
${own}
\`\`\`

In another terminal, in the same folder:

\`\`\`sh
${buyer}
\`\`\`

\`issuer.key\` signs everything. Keep it secret, and keep a copy.
`;
}
