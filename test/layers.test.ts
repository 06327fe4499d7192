import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const SIDES = ['compiler', 'gatekeeper'];
const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources: readonly Source[] = SIDES.flatMap((side) =>
  readdirSync(join(ROOT, side), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(side, name))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
);

/** Pairs of folders that import each other; types count, because who reads a file has to read what it names. */
function pairsOf(all: readonly Source[]): string[] {
  const arrows = new Set(
    all.flatMap(({ path, text }) =>
      [...text.matchAll(IMPORT)].map(
        ([, name = '']) => `${dirname(path)} ${dirname(normalize(join(dirname(path), name)))}`,
      ),
    ),
  );
  return [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && arrows.has(`${to} ${from}`);
  });
}

describe('the folders of compiler and gatekeeper', () => {
  it('never import each other', () => {
    expect(pairsOf(sources)).toEqual([]);
    expect(sources.length).toBeGreaterThan(400);
    const pair = [
      { path: 'compiler/format/a.ts', text: "import { b } from '../system/b.ts';" },
      { path: 'compiler/system/b.ts', text: "const { a } = await import('../format/a.ts');" },
    ];
    expect(pairsOf(pair)).toEqual(['compiler/format compiler/system']);
  });

  it('lie in rooms, each with its rule in biome.json', () => {
    const { overrides } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8')) as {
      readonly overrides: readonly { readonly includes: readonly string[] }[];
    };
    const ruled = new Set(overrides.flatMap(({ includes }) => includes));
    const rooms = new Set(
      sources
        .map(({ path }) => path.split('/'))
        .flatMap(([side, room, ...rest]) => (rest.length === 0 ? [] : [`${side}/${room}/**`])),
    );
    expect([...rooms].filter((room) => !ruled.has(room))).toEqual([]);
    expect(rooms.size).toBeGreaterThan(15);
  });
});

/** The files that may open others for reading, one in each program. */
const READERS = ['compiler/system/plain-file.ts', 'gatekeeper/wire/plain-file.ts'];
/** A folder is opened for a sync, and the journal for its own, after it was written here. */
const SYNCS = ['compiler/system/plain-file.ts', 'gatekeeper/heart/journal/group-commit.ts'];
/** An old body is opened for writing alone, and waits for nobody. */
const WRITES_OVER = 'compiler/release/spare-files.ts';
const IMPORTS = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g;
/** What opens a file and waits for it, where it is a pipe. */
const WAITING = ['readFile', 'readFileSync', 'createReadStream', 'open'];

/** Whether a source reads a file in another way than through the one of its program. */
function readsItself(text: string): boolean {
  const names = [...text.matchAll(IMPORTS)].flatMap(([, list = '']) => list.split(','));
  const opens = text.split('\n').filter((line) => /\bopenSync\(/.test(line));
  return (
    names.some((name) => WAITING.includes(name.trim().split(' ')[0] ?? '')) ||
    opens.some((line) => !/, '(?:w|wx|a)'[,)]/.test(line)) ||
    /import (?:\* as )?\w+ from 'node:fs/.test(text)
  );
}

describe('reads of files', () => {
  it('are left to one file in each program, which waits for nobody', () => {
    const others = sources.filter(
      ({ path }) => ![...READERS, ...SYNCS, WRITES_OVER].includes(path),
    );
    expect(others.filter(({ text }) => readsItself(text)).map(({ path }) => path)).toEqual([]);
    const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    for (const path of [...READERS, WRITES_OVER]) expect(text(path)).toContain('O_NONBLOCK');
  });

  it.each([
    ["import { mkdirSync, readFileSync } from 'node:fs';", true],
    ["import {\n  mkdirSync,\n  open,\n} from 'node:fs/promises';", true],
    ["const file = openSync(path, 'r');", true],
    ["const file = openSync(join(a, b), 'r');", true],
    ["import * as fs from 'node:fs';", true],
    ["import { open as o } from 'node:fs/promises';", true],
    ["import { openSync } from 'node:fs';\nconst file = openSync(path, 'wx');", false],
  ])('would be found in %j', (text, expected) => {
    expect(readsItself(text)).toBe(expected);
  });
});

const GATEKEEPER = join(import.meta.dirname, '../gatekeeper');

/** The folder of a source below `gatekeeper/`. */
const folderOf = (path: string): string => dirname(path);

/** What these load is the way from a socket to a file and its price; what the compiler shares does not count. */
const HEART = ['wire/server.ts', 'heart/answers/respond.ts'];
const HEART_FOLDERS = ['heart/answers', 'heart/release', 'wire'];
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
    expect([...heart]).toEqual(
      expect.arrayContaining(['wire/reply.ts', 'heart/release/read-body.ts']),
    );
    expect(rooms.length).toBeGreaterThan(15);
  });

  it('is read in one sitting', () => {
    const lines = [...heart].map((path) => textOf(path).split('\n').length - 1);
    expect(heart.size).toBeLessThanOrEqual(HEART_FILES_MAX);
    expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(HEART_LINES_MAX);
  });

  it.each([
    ['heart/answers/respond.ts', '../../rooms/basket.ts', 'rooms/basket.ts'],
    ['heart/answers/answers.ts', '../../rooms/subscription.ts', 'rooms/subscription.ts'],
    ['wire/server.ts', './limits/open-limits.ts', 'wire/limits/rate-limit.ts'],
    ['heart/release/release-index.ts', '../journal/ledger.ts', 'heart/journal/ledger.ts'],
  ])('would not pass if %s imported %s', (of, imported, stranger) => {
    expect(strangers(loadedBy(HEART, withImport(of, imported)))).toContain(stranger);
  });
});

/** Says why an answer is no compiled file. */
const REASON = /\bComputed,\s+(?:\*\s+)?because\b/;

/** What `rooms.ts` takes from the rooms and the tool server, with the comment in front of each. */
function answersWithComments(): readonly (readonly [name: string, comment: string])[] {
  const taken = /^import \{ ([^}]*) \} from '\.\/(rooms\/[^']+)';$/gm;
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

describe('the lab and the scripts', () => {
  const FOLDERS = ['compiler', 'gatekeeper', 'scripts', 'test'];
  /** What users run in `scripts/` has tests of its own; all other tests start it as a program. */
  const REACHES_SCRIPTS = /^test\/(lab\/long\/)?scripts\//;

  /** What one source imports and should not. */
  function wrongArrows(path: string, text: string): string[] {
    const imported = [...text.matchAll(IMPORT)].map(([, name = '']) =>
      normalize(join(dirname(path), name)),
    );
    const isWrong = (target: string): boolean => {
      if (target.startsWith('test/')) {
        if (path.startsWith('test/lab/')) return false;
        return !path.startsWith('test/') || target.startsWith('test/lab/');
      }
      return (
        target.startsWith('scripts/') && !path.startsWith('scripts/') && !REACHES_SCRIPTS.test(path)
      );
    };
    return imported.filter(isWrong).map((target) => `${path} imports ${target}`);
  }

  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  );

  it('are imported by no product code, and the lab by nothing else', () => {
    const all = sources.map((path) => wrongArrows(path, readFileSync(join(ROOT, path), 'utf8')));
    expect(all.flat()).toEqual([]);
    expect(all.length).toBeGreaterThan(1000);
  });

  it.each([
    ['compiler/cli/cli.ts', '../../test/lab/campaign.ts', 1],
    ['gatekeeper/start.ts', '../scripts/terminal-style.ts', 1],
    ['compiler/cli/cli.ts', '../../test/small-set.ts', 1],
    ['scripts/demo.ts', '../test/lab/bench.ts', 1],
    ['test/verify/verify-body.test.ts', '../lab/campaign.ts', 1],
    ['test/verify/verify-body.test.ts', '../../scripts/demo.ts', 1],
    ['test/scripts/demo.test.ts', '../../scripts/demo.ts', 0],
    ['test/lab/long/scripts/quick-start.test.ts', '../../../../scripts/demo.ts', 0],
    ['test/lab/bench.ts', '../../scripts/sample/sample-files.ts', 1],
    ['test/lab/bench.ts', './campaign.ts', 0],
  ])('%s may import %s or not', (path, target, wrong) => {
    expect(wrongArrows(path, `import { it } from '${target}';\n`)).toHaveLength(wrong);
    expect(wrongArrows(path, `await import('${target}');\n`)).toHaveLength(wrong);
  });
});
