import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

/**
 * The folders of the gatekeeper, from the ground up, with what each may import. Types count: who reads a file has to read
 * what it names. Its root starts it, and stands above all.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  system: [],
  http: ['system'],
  log: ['system', 'http'],
  money: ['http'],
  config: ['system', 'http', 'log', 'money'],
  release: ['system', 'http'],
  remote: ['system', 'http', 'log', 'config', 'release'],
  chain: ['system', 'config', 'money'],
  facilitator: ['system', 'http', 'money'],
  metrics: ['system', 'http', 'money', 'config', 'facilitator'],
  journal: ['system', 'config', 'log', 'release', 'money'],
  offer: ['http', 'release', 'money'],
  payment: [
    ...['system', 'http', 'log', 'config', 'metrics'],
    ...['money', 'chain', 'facilitator', 'journal', 'offer'],
  ],
  answers: ['system', 'http', 'config', 'money', 'release', 'offer', 'payment'],
  mcp: ['system', 'http', 'answers'],
  dashboard: ['system', 'http', 'journal'],
  doctor: [
    ...['system', 'http', 'config', 'money'],
    ...['chain', 'release', 'remote', 'facilitator', 'journal'],
  ],
  workers: ['system', 'http', 'log'],
};

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

/** The files that a source loads with itself: neither types nor what is loaded late. */
const LOADED = /^import (?!type )[^']*? from '(\.[^']+)';$/gms;

/** A file with all that it loads. */
function loadedBy(path: string, seen = new Set<string>()): ReadonlySet<string> {
  const text = sources.find((source) => source.path === path)?.text;
  if (text === undefined || seen.has(path)) return seen;
  seen.add(path);
  for (const [, name = ''] of text.matchAll(LOADED)) {
    loadedBy(normalize(join(dirname(path), name)), seen);
  }
  return seen;
}

describe('the folders of the gatekeeper', () => {
  it('import only what stands below them', () => {
    expect(sources.flatMap(({ path, text }) => wrongArrows(path, text))).toEqual([]);
  });

  it('are all there, and are read', () => {
    const folders = new Set(sources.map(({ path }) => folderOf(path)));
    expect([...folders].sort()).toEqual([...Object.keys(MAY_IMPORT), 'the root'].sort());
    const imported = sources.flatMap(({ path, text }) =>
      folderOf(path) === 'payment' ? foldersOf(path, text) : [],
    );
    expect(imported).toEqual(expect.arrayContaining(['money', 'chain', 'facilitator', 'journal']));
  });

  it('stand in one order, so that no circle of them can be written down', () => {
    const order = Object.keys(MAY_IMPORT);
    for (const [at, folder] of order.entries()) {
      const above = [...order.slice(at), 'the root'];
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

describe('the way from a socket to a file and its price', () => {
  const way = new Set([...loadedBy('http/server.ts'), ...loadedBy('answers/respond.ts')]);
  const rooms = [...loadedBy('rooms.ts')].filter((path) => !way.has(path));

  it('loads nothing of the rooms beside it', () => {
    const named = [
      ...(sources.find(({ path }) => path === 'rooms.ts')?.text ?? '').matchAll(LOADED),
    ]
      .map(([, name = '']) => normalize(name))
      .filter((path) => path !== 'answers/stored-file.ts');
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((path) => way.has(path))).toEqual([]);
    const folders = new Set([...way].map(folderOf));
    const beside = ['mcp', 'metrics', 'remote', 'dashboard', 'doctor', 'workers', 'journal'];
    expect(beside.filter((folder) => folders.has(folder))).toEqual([]);
  });

  it('is read whole, and the rooms are loaded with what they need', () => {
    expect([...way]).toEqual(expect.arrayContaining(['http/request-handler.ts', 'http/reply.ts']));
    expect(rooms).toEqual(expect.arrayContaining(['mcp/json-rpc.ts', 'answers/watch-index.ts']));
  });
});
