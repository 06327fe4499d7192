import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

/**
 * The folders of the gatekeeper from the ground up: each imports only those before it. Types count, because who reads a
 * file has to read what it names.
 */
const ORDER = [
  ...['system', 'http', 'limits', 'state', 'log', 'money', 'config', 'release'],
  ...['chain', 'facilitator', 'journal', 'offer', 'metrics', 'payment'],
  ...[
    'purchase',
    'books',
    'workers',
    'answers',
    'rooms',
    'search',
    'mcp',
    'dashboard',
    'remote',
    'doctor',
  ],
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

/** What these load is the way from a socket to a file and its price; the vocabulary of `contract/` does not count. */
const HEART = ['http/server.ts', 'answers/respond.ts'];
const HEART_FOLDERS = ['answers', 'http', 'release', 'system'];
const HEART_FILES_MAX = 16;
const HEART_LINES_MAX = 2070;

/** What a source loads with itself: neither types nor what is loaded late. */
const LOADED = /^import (?!type )[^']*? from '(\.[^']+)';$/gms;

type TextOf = (path: string) => string;

function textOf(path: string): string {
  return readFileSync(join(GATEKEEPER, path), 'utf8');
}

function importsOf(path: string, text: string): readonly string[] {
  return [...text.matchAll(LOADED)].map(([, name = '']) => normalize(join(dirname(path), name)));
}

/** Files of the gatekeeper with all that they load. */
function loadedBy(paths: readonly string[], read: TextOf = textOf): ReadonlySet<string> {
  const seen = new Set<string>();
  const load = (path: string): void => {
    if (seen.has(path) || path.startsWith('..')) return;
    seen.add(path);
    importsOf(path, read(path)).forEach(load);
  };
  paths.forEach(load);
  return seen;
}

const rooms = importsOf('rooms.ts', textOf('rooms.ts'));

/** The files of the heart that do not belong there: those of other folders, and the rooms. */
function strangers(heart: ReadonlySet<string>): readonly string[] {
  return [...heart].filter(
    (path) => !HEART_FOLDERS.includes(folderOf(path)) || rooms.includes(path),
  );
}

/** The sources, with one more import in one of them. */
const withImport =
  (of: string, imported: string): TextOf =>
  (path) =>
    (path === of ? `import { it } from '${imported}';\n` : '') + textOf(path);

describe('the heart of the gatekeeper', () => {
  const heart = loadedBy(HEART);

  it('loads no room, and nothing of the folders beside it', () => {
    expect(strangers(heart)).toEqual([]);
    expect([...heart]).toEqual(expect.arrayContaining(['http/reply.ts', 'release/read-body.ts']));
    expect(rooms.length).toBeGreaterThan(15);
  });

  it('is read in one sitting', () => {
    const lines = [...heart].map((path) => textOf(path).split('\n').length - 1);
    expect(heart.size).toBeLessThanOrEqual(HEART_FILES_MAX);
    expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(HEART_LINES_MAX);
  });

  it.each([
    ['answers/respond.ts', '../rooms/basket.ts', 'rooms/basket.ts'],
    ['answers/answers.ts', '../rooms/subscription.ts', 'rooms/subscription.ts'],
    ['http/server.ts', '../limits/open-limits.ts', 'limits/rate-limit.ts'],
    ['release/release-index.ts', '../journal/ledger.ts', 'journal/ledger.ts'],
  ])('would not pass if %s imported %s', (of, imported, stranger) => {
    expect(strangers(loadedBy(HEART, withImport(of, imported)))).toContain(stranger);
  });
});

/** Says why an answer is no compiled file. */
const REASON = /\bComputed,\s+(?:\*\s+)?because\b/;

/** What `rooms.ts` takes from the rooms and the tool server, with the comment in front of each. */
function answersWithComments(): readonly (readonly [name: string, comment: string])[] {
  const taken = /^import \{ ([^}]*) \} from '\.\/((?:rooms|mcp)\/[^']+)';$/gm;
  return [...textOf('rooms.ts').matchAll(taken)].flatMap(([, names = '', path = '']) =>
    names.split(', ').map((name) => {
      const of = new RegExp(
        `(/\\*\\*(?:(?!\\*/)[^])*\\*/)\\nexport (?:async )?function ${name}\\(`,
      );
      return [name, of.exec(textOf(path))?.[1] ?? ''] as const;
    }),
  );
}

describe('an answer that is computed', () => {
  it('says why it is no compiled file', () => {
    const answers = answersWithComments();
    const silent = answers.filter(([, comment]) => !REASON.test(comment)).map(([name]) => name);
    // What refuses, what stands as a file, and what adds to an answer.
    expect(silent.sort()).toEqual(['mcpRefusal', 'staticFile', 'tokenGate', 'verifyUsage']);
    expect(answers.length).toBeGreaterThan(18);
  });

  it('is silent without a reason', () => {
    expect(REASON.test('/** `/gauge/series`: the end of the stored rows. */')).toBe(false);
    expect(REASON.test(' * once. Computed,\n * because the caller names the cutoff.')).toBe(true);
  });
});
