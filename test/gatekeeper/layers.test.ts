import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

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
