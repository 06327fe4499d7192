import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FileEntry, formatFiles, parseFiles } from '../../../../compiler/format/release.ts';
import { ListedFiles } from '../../../../gatekeeper/heart/release/listed-files.ts';

const sha256 = (at: number): string => at.toString(16).padStart(64, '0');
const entry = (path: string, at = 0): FileEntry => ({ path, size: at * 37, sha256: sha256(at) });
const listOf = (paths: readonly string[]): FileEntry[] =>
  [...new Set(paths)].sort().map((path, at) => entry(path, at));
const bytesOf = (entries: readonly FileEntry[]): Buffer => Buffer.from(formatFiles(entries));

const segment = fc.stringMatching(/^[a-z0-9_~-][a-z0-9._~-]{0,8}$/);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const paths = fc.array(path, { maxLength: 40 });

describe('ListedFiles', () => {
  it('finds exactly what is listed, and lists it in order', async () => {
    await fc.assert(
      fc.asyncProperty(paths, path, async (given, other) => {
        const entries = listOf(given);
        const files = await ListedFiles.inTurns(bytesOf(entries));
        expect([...files.values()]).toEqual(entries);
        for (const each of entries) expect(files.get(each.path)).toEqual(each);
        expect(files.has(other)).toBe(entries.some((each) => each.path === other));
        const first = entries.findIndex((each) => each.path >= other);
        expect(files.firstFrom(other)).toBe(first === -1 ? entries.length : first);
      }),
    );
  });

  it('takes and refuses what the compiler takes and refuses', async () => {
    const bytes = bytesOf(listOf(['a/b.json', 'a/c.json', 'log/tile/0/000', 'z.json']));
    const alter = fc.record({ at: fc.nat(bytes.length - 1), to: fc.integer({ min: 0, max: 127 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(alter, { minLength: 1, maxLength: 2 }), async (changes) => {
        const changed = Buffer.from(bytes);
        for (const { at, to } of changes) changed[at] = to;
        const taken = (read: () => unknown): Promise<boolean> =>
          new Promise((resolve) => resolve(read())).then(
            () => true,
            () => false,
          );
        const isParsed = await taken(() => parseFiles(changed.toString('latin1')));
        expect(await taken(() => ListedFiles.inTurns(changed))).toBe(isParsed);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads a list of several turns, and refuses it by the number of the line', async () => {
    const entries = listOf(Array.from({ length: 20_000 }, (_, at) => `record/${at + 1e5}.json`));
    const bytes = bytesOf(entries);
    expect(bytes.length).toBeGreaterThan(1.5 * 1024 * 1024);
    expect([...(await ListedFiles.inTurns(bytes)).values()]).toEqual(entries);
    const line = 15_000;
    const start = bytesOf(entries.slice(0, line - 1)).length;
    const changed = Buffer.from(bytes);
    changed.write('Z', start);
    const words = `line ${line} is malformed`;
    await expect(ListedFiles.inTurns(changed)).rejects.toThrow(words);
  });

  it.each([
    ['a hash of 63 digits', `${sha256(1).slice(1)} 1 a\n`],
    ['a hash in upper case', `${'A'.repeat(64)} 1 a\n`],
    ['a size with a leading zero', `${sha256(1)} 01 a\n`],
    ['a size of 16 digits', `${sha256(1)} ${'1'.repeat(16)} a\n`],
    ['no size', `${sha256(1)}  a\n`],
    ['no path', `${sha256(1)} 1 \n`],
    ['a hidden segment', `${sha256(1)} 1 a/.b\n`],
    ['a way upwards', `${sha256(1)} 1 ../a\n`],
    ['an absolute path', `${sha256(1)} 1 /a\n`],
    ['an empty segment', `${sha256(1)} 1 a//b\n`],
    ['a folder', `${sha256(1)} 1 a/\n`],
    ['a path twice', `${sha256(1)} 1 a\n${sha256(1)} 1 a\n`],
    ['paths out of order', `${sha256(1)} 1 b\n${sha256(1)} 1 a\n`],
    ['a last line without its end', `${sha256(1)} 1 a\n${sha256(1)} 1 b`],
    ['an empty line', `${sha256(1)} 1 a\n\n`],
  ])('refuses %s, by the number of the line', async (_, text) => {
    expect(() => parseFiles(text)).toThrow(RangeError);
    const files = ListedFiles.inTurns(Buffer.from(text));
    await expect(files).rejects.toThrow(/line [12] is malformed/);
  });
});
