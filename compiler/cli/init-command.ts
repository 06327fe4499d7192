import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { BUILTIN } from '../catalog/builtin.ts';
import {
  CATALOG_FORMAT,
  type CatalogFile,
  catalogSchemaText,
  formatFaults,
  type RulerRow,
} from '../catalog/catalog-file.ts';
import { catalogFaults } from '../catalog/check-catalog.ts';
import { builtinRest } from '../catalog/whole-catalog.ts';
import { HOUR_MS, isoTime } from '../format/iso-time.ts';
import { CATALOG_FOLDER, SCHEMA_NAME } from '../readings/list-snapshots.ts';
import type { CommandSettings } from '../system/command-settings.ts';

interface InitFlags {
  lines: string;
  extends?: string;
}

export function defineInit(command: Command, { now, print }: CommandSettings): void {
  command
    .argument('<folder>', 'where the shop is made; it must not exist, or be empty')
    .option('--lines <name>', 'id of its line', 'tides')
    .option('--extends <catalogue>', 'builtin, to sell the built-in lines too')
    .action((folder: string, flags: InitFlags) => {
      print(newShop({ folder, line: flags.lines, extended: extendedBy(flags), nowMs: now() }));
    });
}

function extendedBy({ extends: named }: InitFlags): 'builtin' | null {
  if (named === undefined || named === 'builtin') return named ?? null;
  throw new RangeError(`Cannot extend "${named}": the only catalogue to extend is builtin`);
}

interface NewShop {
  folder: string;
  line: string;
  extended: 'builtin' | null;
  /** Milliseconds since 1970: when its invented readings were collected. */
  nowMs: number;
}

const LINE = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PORT = 4021;

/**
 * Writes a shop that compiles and sells as it stands; returns what to do next. Throws a RangeError for a name that no line
 * can have and for a folder that holds anything: nothing is ever overwritten.
 */
export function newShop(shop: NewShop): string {
  const catalog = shopCatalog(shop.line, shop.extended);
  const refuse = (state: string): never => {
    throw new RangeError(`Cannot make a line "${shop.line}": ${state}`);
  };
  if (!LINE.test(shop.line)) {
    refuse('not a name in lower-case letters and digits with - between; pass one such as tides');
  }
  if (BUILTIN.lineById.has(shop.line)) {
    refuse('the built-in catalogue has a line of that name; pass another');
  }
  const file = { file: `${shop.line}.json`, value: catalog };
  const rest = { file: 'built-in', value: builtinRest([catalog]) };
  const joined = catalog.extends === null ? [file] : [rest, file];
  const [fault] = [...formatFaults(file), ...catalogFaults(joined)];
  if (fault !== undefined) refuse(`${fault.reason} (${fault.pointer}); pass another name`);
  refuseFolder(shop.folder);
  for (const [path, text] of Object.entries(filesOf(shop, catalog))) {
    const full = join(shop.folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text, { flag: 'wx' });
  }
  const { shop: own, buyer } = commandsOf(shop);
  return `Made a shop in "${shop.folder}"; its README.md says what to edit.

Check, sign and serve it:
${indented(own)}

Buy from it, in another terminal, in the same folder:
${indented(buyer)}`;
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
  const readings = Object.entries(files).map(([name, text]) => {
    return [`snapshots/${batch}/${name}`, text];
  });
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

function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text}'`;
}

/** The commands that lead from the files to a record that was bought and verified, in two terminals. */
function commandsOf({ folder, line }: NewShop): { shop: string; buyer: string } {
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
   \`npx signalpress lines --units\` lists the units that the name of a metric may end in; \`units\` of the catalogue adds others.
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

/** The entity whose record the commands of a new shop buy. */
const FIRST_ENTITY = 'station-one';

/** The catalogue that a new shop begins with: one line of three stations, a scale, a bundle of two legs, and prices. */
function shopCatalog(line: string, extended: 'builtin' | null): CatalogFile {
  const path = `/gauge/${line}-region`;
  return {
    $schema: '../catalog.schema.json',
    format: CATALOG_FORMAT,
    extends: extended,
    note: 'An example, invented. Put what you measure in its place; the schema says what each member means.',
    lines: [lineRow(line, path)],
    rulers: { [`${line}-stages`]: RULER },
    prices: extended === 'builtin' ? { [path]: '0.25' } : { ...PRICES, [path]: '0.25' },
  };
}

/** USD a call; what has no price is not offered. */
const PRICES = {
  '/gauge': '0.01',
  '/gauge/ruler': '0.005',
  '/gauge/history': '0.005',
  '/gauge/census': '0.05',
} as const;

const RULER: RulerRow = {
  scale: 'Example stages',
  metric: 'level_m',
  unit: 'm',
  direction: 'up',
  edge: 'worse',
  actionBand: 'flood',
  provenance: 'invented; "agency" and "document" in place of this make a scale official',
  steps: [
    { band: 'normal', at: 0 },
    { band: 'high', at: 2.5 },
    { band: 'flood', at: 3.2 },
  ],
};

function lineRow(line: string, path: string): NonNullable<CatalogFile['lines']>[number] {
  const [waves, level] = [`${line}.waves`, `${line}.level`];
  return {
    id: line,
    industry: line,
    title: `${line} stations`,
    tagline: 'Waves and water level at three stations',
    signals: [
      {
        id: waves,
        measures: 'wave height',
        cadence: 'hourly',
        metrics: ['height_m'],
        words: { says: ['Waves at {name} are {height_m} high.'] },
        range: { from: 0, to: 30 },
        bands: ['calm', 'rough'],
      },
      {
        id: level,
        measures: 'water level above the local datum',
        cadence: 'hourly',
        metrics: ['level_m'],
        words: {
          title: 'water level',
          says: ['The water at {name} stands {level_m} above the local datum.'],
        },
        rulers: [`${line}-stages`],
      },
    ],
    bundle: {
      path,
      param: 'loc',
      legs: [
        { name: 'waves', signals: [waves] },
        { name: 'level', signals: [level] },
      ],
    },
    entities: [
      {
        id: FIRST_ENTITY,
        name: 'Station One',
        latitude: 51.9,
        longitude: 4.1,
        zone: 'Europe/Amsterdam',
      },
      {
        id: 'station-two',
        name: 'Station Two',
        latitude: 53.2,
        longitude: 5.4,
        zone: 'Europe/Amsterdam',
      },
      { id: 'station-three', name: 'Station Three' },
    ],
  };
}

/** Invented values of each station, oldest first, an hour apart. */
const LEVELS_M = {
  'station-one': [2.1, 2.9, 3.4],
  'station-two': [0.6, 0.5, 0.4],
  'station-three': [2.4, 2.5, 2.6],
};
const WAVES_M = {
  'station-one': [1.1, 1.9, 2.4],
  'station-two': [0.3, 0.2, 0.2],
  'station-three': [0.8, 0.9, 0.9],
};
const ROUGH_FROM_M = 1.5;

/** The batch of a new shop: a file for each signal of its catalogue, by name, collected at `nowMs`. */
function shopBatch(
  line: string,
  nowMs: number,
): { batch: string; files: Readonly<Record<string, string>> } {
  const collected = isoTime(nowMs);
  const level = rowsOf(LEVELS_M, nowMs, (value) => ({ level_m: value }));
  const waves = rowsOf(WAVES_M, nowMs, (value) => {
    return { height_m: value, band: value < ROUGH_FROM_M ? 'calm' : 'rough' };
  });
  return {
    batch: collected.slice(0, 'YYYY-MM-DD'.length),
    files: {
      [`${line}.level.ndjson`]: textOf(collected, level),
      [`${line}.waves.ndjson`]: textOf(collected, waves),
    },
  };
}

function rowsOf(
  values: Readonly<Record<string, readonly number[]>>,
  nowMs: number,
  current: (value: number) => object,
): object[] {
  const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return Object.entries(values).flatMap(([entity, list]) =>
    list.map((value, at) => {
      const observed = hour - (list.length - 1 - at) * HOUR_MS;
      return { entity, observed_at: isoTime(observed), current: current(value) };
    }),
  );
}

/** The first line holds what all others have in common. */
function textOf(collected: string, rows: readonly object[]): string {
  const header = {
    collected_at: collected,
    sources: [{ name: 'invented example, nothing was observed', weight: 1, independent: true }],
    source_ref: null,
    source_tier: null,
  };
  return [{ header }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Longest line of a file that people edit. */
const LINE_CHARS_MAX = 100;

/** JSON as people write it: what fits into a line stands in one. `indent` is that of the line in which it begins. */
function tidyJson(value: unknown, indent = '', key = ''): string {
  const flat = spaced(value);
  const isFlat = typeof value !== 'object' || value === null;
  if (isFlat || `${indent}${key}${flat}`.length < LINE_CHARS_MAX) return flat;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const rows = Object.entries(value).map(([name, member]) => {
    const start = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    return `${deeper}${start}${tidyJson(member, deeper, start)}`;
  });
  return `${open}\n${rows.join(',\n')}\n${indent}${close}`;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const rows = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`,
  );
  return rows.length === 0 ? '{}' : `{ ${rows.join(', ')} }`;
}
