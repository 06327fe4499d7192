import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { type FileEntry, formatFiles, isPublicPath } from '../../compiler/format/release.ts';
import { validUntilByCadence } from '../../compiler/release/release-folders.ts';
import {
  fileDigest,
  HashedFile,
  listedFiles,
  ReleaseList,
} from '../../compiler/release/release-list.ts';
import { ForgottenError } from '../../compiler/system/compile-error.ts';
import { makeFolder, removeFolders, sha256Text } from '../snapshot-folder.ts';

afterAll(removeFolders);

type Files = ReadonlyMap<string, FileEntry>;
const path = fc.oneof(
  fc.stringMatching(/^[a-c]{1,2}(\/[a-c-]{1,2})?$/),
  fc.stringMatching(/^(free|log\/tile|log\/index|site)\/[a-c]$/),
);
const entry = fc
  .tuple(path, fc.nat(2000))
  .map(([path, size]): FileEntry => ({ path, size, sha256: sha256Text(`${path} ${size}`) }));
const files = fc
  .array(entry, { maxLength: 30 })
  .map((entries): Files => new Map(entries.map((one) => [one.path, one])));
const sorted = (of: Files) => [...of.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
const bytes = (of: Files) => sorted(of).reduce((sum, { size }) => sum + size, 0);

function listOf(before: Files): ReleaseList {
  return new ReleaseList(listedFiles(Buffer.from(formatFiles(sorted(before)))), before.size);
}

describe('ReleaseList', () => {
  const folder = makeFolder();
  let number = 0;

  it('lists what adding and taking away one after the other gives', () => {
    fc.assert(
      fc.property(files, files, fc.nat(3), (before, added, pick) => {
        const gone = [...before.keys()].filter((_, at) => (at + pick) % 3 === 0);
        const list = listOf(before);
        list.remove(gone);
        list.add([...added.values()]);
        const stays = [...before].filter(([path]) => !gone.includes(path));
        const want = new Map([...stays, ...added]);
        const paths = sorted(want).map(({ path }) => path);
        for (const prefix of ['', 'a', 'b/', 'c']) {
          expect([...list.under(prefix)]).toEqual(paths.filter((path) => path.startsWith(prefix)));
        }
        for (const path of [...before.keys(), ...added.keys(), 'x']) {
          expect(list.find(path)).toEqual(want.get(path) ?? null);
        }
        expect(list.added()).toEqual(sorted(added));
        number += 1;
        const place = join(folder, String(number));
        const text = formatFiles(sorted(want));
        const open = sorted(want).filter(({ path }) => isPublicPath(path));
        expect(list.write(place)).toEqual({
          sha256: sha256Text(text),
          count: want.size,
          publicFiles: { sha256: `sha256:${sha256Text(formatFiles(open))}`, count: open.length },
          bytesAdded: bytes(want) - bytes(before),
        });
        expect(readFileSync(place, 'utf8')).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it('forgets when a path that is taken away is not listed', () => {
    const list = listOf(new Map());
    list.remove(['a']);
    expect(() => list.write(join(folder, 'none'))).toThrow(ForgottenError);
  });
});

afterAll(removeFolders);

describe('HashedFile', () => {
  it('writes texts and pieces of bytes in their order, also many more than it holds, and hashes them', () => {
    const path = join(makeFolder(), 'file');
    const piece = Buffer.from(Array.from({ length: 300_001 }, (_, at) => 65 + (at % 26)));
    const file = new HashedFile(path);
    let want = '';
    for (let turn = 0; turn < 12; turn += 1) {
      file.text(`turn ${turn}\n`);
      file.copy(piece, turn, piece.length - turn);
      want += `turn ${turn}\n${piece.toString('latin1', turn, piece.length - turn)}`;
    }
    file.copy(Buffer.concat(Array.from({ length: 8 }, () => piece)), 0, 8 * piece.length);
    want += piece.toString('latin1').repeat(8);
    expect(file.close()).toBe(sha256Text(want));
    expect(readFileSync(path, 'latin1') === want).toBe(true);
  });

  it('never writes over a file', () => {
    const path = join(makeFolder(), 'file');
    new HashedFile(path).close();
    expect(() => new HashedFile(path)).toThrow('EEXIST');
  });
});

describe('fileDigest()', () => {
  it.each([0, 1, 1 << 20, 3_000_001])('I34: hashes a file of %i bytes', (length) => {
    const path = join(makeFolder(), 'file');
    const text = 'abcdefg'.repeat(Math.ceil(length / 7)).slice(0, length);
    writeFileSync(path, text);
    expect(fileDigest(path)).toBe(sha256Text(text));
  });
});

const asOf = '2026-11-20T12:00:00Z';
const of = (cadence: string): string => {
  const found = [...BUILTIN.entryById.values()].find(({ signal }) => signal.cadence === cadence);
  if (found === undefined) throw new Error(`no signal of cadence "${cadence}"`);
  return found.signal.id;
};
const until = (signals: string[], changed: string[]): string =>
  validUntilByCadence({ catalog: BUILTIN, asOf, signals, changed });

describe('validUntilByCadence()', () => {
  it('is twice the longest cadence of what changed', () => {
    const [hourly, daily, monthly] = [of('hourly'), of('daily'), of('monthly')];
    const all = [hourly, daily, monthly];
    expect(until(all, [hourly])).toBe('2026-11-20T14:00:00Z');
    expect(until(all, [daily, hourly])).toBe('2026-11-22T12:00:00Z');
    expect(until([hourly], [hourly])).toBe('2026-11-20T14:00:00Z');
  });

  it('is at most a week from now, also for what has no cadence in hours', () => {
    const all = [of('hourly'), of('monthly'), of('as-events')];
    for (const id of all.slice(1)) expect(until(all, [id])).toBe('2026-11-27T12:00:00Z');
    expect(until([], [])).toBe('2026-11-27T12:00:00Z');
  });

  it('counts all signals where none of them changed', () => {
    const [hourly, monthly] = [of('hourly'), of('monthly')];
    expect(until([hourly], [])).toBe('2026-11-20T14:00:00Z');
    expect(until([hourly], ['mcp'])).toBe('2026-11-20T14:00:00Z');
    expect(until([hourly, monthly], ['mcp'])).toBe('2026-11-27T12:00:00Z');
  });
});
