import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

/**
 * The folders of the gatekeeper from the ground up: each imports only those before it. Types count, because who reads a
 * file has to read what it names.
 */
const ORDER = [
  ...['system', 'http', 'limits', 'log', 'money', 'config', 'release'],
  ...['chain', 'facilitator', 'journal', 'offer', 'metrics', 'payment'],
  ...['purchase', 'workers', 'answers', 'mcp', 'dashboard', 'remote', 'doctor'],
];
/** They stand side by side on the vocabulary of money, and the purchase joins them. */
const SIDE_BY_SIDE = ['chain', 'facilitator', 'journal', 'offer'];
/** The files that start the gatekeeper stand above all. */
const ROOT = 'the root';

const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/** The other folders that a source imports, once each. */
function foldersOf(path: string, text: string): readonly string[] {
  const own = folderOf(path);
  const files = [...text.matchAll(IMPORT)].map(([, name = '']) =>
    normalize(join(dirname(path), name)),
  );
  const folders = files.filter((file) => !file.startsWith('..')).map(folderOf);
  return [...new Set(folders)].filter((folder) => folder !== own);
}

function folderOf(path: string): string {
  const [folder = '', ...rest] = path.split('/');
  return rest.length === 0 ? ROOT : folder;
}

/** The arrows of one source that run upwards or sidewards. */
function wrongArrows(path: string, text: string): readonly string[] {
  const own = folderOf(path);
  if (own === ROOT) return [];
  const isAbove = (folder: string): boolean =>
    folder === ROOT || ORDER.indexOf(folder) > ORDER.indexOf(own);
  const isBeside = (folder: string): boolean =>
    SIDE_BY_SIDE.includes(own) && SIDE_BY_SIDE.includes(folder);
  return foldersOf(path, text)
    .filter((folder) => isAbove(folder) || isBeside(folder))
    .map((folder) => `${path} imports ${folder}`);
}

const sources = readdirSync(GATEKEEPER, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(GATEKEEPER, path), 'utf8') }));

describe('the folders of the gatekeeper', () => {
  it('import only what stands below them', () => {
    expect(sources.flatMap(({ path, text }) => wrongArrows(path, text))).toEqual([]);
  });

  it('are all in the order, and are read', () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)));
    expect([...folders].sort()).toEqual([...ORDER, ROOT].sort());
    const imported = sources.flatMap(({ path, text }) =>
      folderOf(path) === 'payment' ? foldersOf(path, text) : [],
    );
    expect(imported).toEqual(expect.arrayContaining(['money', ...SIDE_BY_SIDE]));
  });

  it('an arrow that runs upwards or sidewards is named, of a type and of a late import too', () => {
    const type = "import type { Refusal } from '../payment/settlement.ts';";
    expect(wrongArrows('journal/ledger.ts', type)).toEqual(['journal/ledger.ts imports payment']);
    const late = "const { openChain } = await import('../chain/open-chain.ts');";
    expect(wrongArrows('offer/shown.ts', late)).toEqual(['offer/shown.ts imports chain']);
    expect(wrongArrows('payment/tender.ts', late)).toEqual([]);
    const several = "import {\n  type Gatekeeper,\n  startGatekeeper,\n} from '../start.ts';";
    expect(wrongArrows('doctor/check.ts', several)).toEqual(['doctor/check.ts imports the root']);
  });
});
