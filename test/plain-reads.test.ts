import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
/** The files that may open others for reading, one in each program. */
const READERS = ['compiler/system/plain-file.ts', 'gatekeeper/wire/plain-file.ts'];
/** A folder is opened for a sync, and the journal for its own, after it was written here. */
const SYNCS = ['compiler/system/replace-file.ts', 'gatekeeper/heart/journal/group-commit.ts'];
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

const sources = ['compiler', 'gatekeeper'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`),
);

describe('reads of files', () => {
  it('are left to one file in each program, which waits for nobody', () => {
    const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    const others = sources.filter((path) => ![...READERS, ...SYNCS, WRITES_OVER].includes(path));
    expect(others.filter((path) => readsItself(text(path)))).toEqual([]);
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
