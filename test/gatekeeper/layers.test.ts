import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

/**
 * The folders of money and those below them, from the ground up, with what each may import. Types count: who reads a
 * file has to read what it names.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  system: [],
  money: ['http'],
  chain: ['system', 'config', 'money'],
  facilitator: ['system', 'http', 'money'],
  journal: ['system', 'config', 'log', 'release', 'money'],
  offer: ['http', 'release', 'money'],
  payment: [
    ...['system', 'http', 'log', 'config', 'metrics'],
    ...['money', 'chain', 'facilitator', 'journal', 'offer'],
  ],
};

/** Folders that stand above money; nothing in the table imports them. */
const ABOVE = ['answers', 'mcp', 'dashboard', 'doctor', 'workers', 'remote'];

const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/** What a source imports of other folders of the gatekeeper: the folders, once each. */
function foldersOf(path: string, text: string): readonly string[] {
  const own = folderOf(path);
  const files = [...text.matchAll(IMPORT)].map(([, name = '']) =>
    normalize(join(dirname(path), name)),
  );
  const folders = files.filter((file) => !file.startsWith('..')).map(folderOf);
  return [...new Set(folders)].filter((folder) => folder !== own);
}

/** A file in the root of the gatekeeper starts it, and stands above all. */
function folderOf(path: string): string {
  const [folder = '', ...rest] = path.split('/');
  return rest.length === 0 ? 'the root' : folder;
}

/** The arrows of one source that run upwards or sidewards. */
function wrongArrows(path: string, text: string): readonly string[] {
  const allowed = MAY_IMPORT[folderOf(path)];
  if (allowed === undefined) return [];
  return foldersOf(path, text)
    .filter((folder) => !allowed.includes(folder))
    .map((folder) => `${path} imports ${folder}`);
}

const sources = readdirSync(GATEKEEPER, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(GATEKEEPER, path), 'utf8') }));

describe('the folders of money', () => {
  it('import only what stands below them', () => {
    expect(sources.flatMap(({ path, text }) => wrongArrows(path, text))).toEqual([]);
  });

  it('are all there, and are read', () => {
    for (const folder of Object.keys(MAY_IMPORT)) {
      expect(sources.filter(({ path }) => folderOf(path) === folder).length, folder).not.toBe(0);
    }
    const imported = sources.flatMap(({ path, text }) =>
      folderOf(path) === 'payment' ? foldersOf(path, text) : [],
    );
    expect(imported).toEqual(expect.arrayContaining(['money', 'chain', 'facilitator', 'journal']));
  });

  it('stand in one order, so that no circle of them can be written down', () => {
    const order = Object.keys(MAY_IMPORT);
    for (const [at, folder] of order.entries()) {
      const above = [...order.slice(at), ...ABOVE, 'the root'];
      expect(MAY_IMPORT[folder]?.filter((name) => above.includes(name))).toEqual([]);
    }
  });

  it('an arrow that runs upwards is named, of a type and of a file that is loaded late too', () => {
    const type = "import type { Refusal } from '../payment/settlement.ts';";
    expect(wrongArrows('journal/ledger.ts', type)).toEqual(['journal/ledger.ts imports payment']);
    const late = "const { openChain } = await import('../chain/open-chain.ts');";
    expect(wrongArrows('offer/shown.ts', late)).toEqual(['offer/shown.ts imports chain']);
    const several = "import {\n  type Gatekeeper,\n  startGatekeeper,\n} from '../start.ts';";
    expect(wrongArrows('payment/tender.ts', several)).toEqual([
      'payment/tender.ts imports the root',
    ]);
    expect(wrongArrows('payment/tender.ts', late)).toEqual([]);
  });
});
