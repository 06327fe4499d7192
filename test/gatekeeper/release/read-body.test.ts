import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storedPath } from '../../../compiler/contract/path.ts';
import { DamagedFileError, readBody } from '../../../gatekeeper/release/read-body.ts';
import { readPlainFile } from '../../../gatekeeper/system/plain-file.ts';

const TEXT = 'a stored body';
const entry = {
  path: 'a.json',
  size: TEXT.length,
  sha256: createHash('sha256').update(TEXT).digest('hex'),
};

function rootWith(make: (path: string) => void): string {
  const root = mkdtempSync(join(tmpdir(), 'signalpress-'));
  const place = join(root, storedPath(entry.path, entry.sha256));
  mkdirSync(dirname(place), { recursive: true });
  make(place);
  return root;
}

describe('readBody()', () => {
  it('reads a listed file', async () => {
    const root = rootWith((path) => writeFileSync(path, TEXT));
    expect((await readBody(root, entry, readPlainFile)).toString()).toBe(TEXT);
  });

  it.each<[string, (path: string) => void]>([
    ['another file of the same size', (path) => writeFileSync(path, 'b stored body')],
    ['a longer file', (path) => writeFileSync(path, `${TEXT}!`)],
    ['a shorter file', (path) => writeFileSync(path, TEXT.slice(1))],
    ['no file', () => undefined],
    ['a directory', (path) => mkdirSync(path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    [
      'I38: a link, even to the right bytes',
      (path) => {
        writeFileSync(`${path}.real`, TEXT);
        symlinkSync(`${path}.real`, path);
      },
    ],
  ])('I24: refuses %s', async (_, make) => {
    await expect(readBody(rootWith(make), entry, readPlainFile)).rejects.toThrow(DamagedFileError);
  });

  it('I24: refuses every single flipped bit', async () => {
    for (let bit = 0; bit < TEXT.length * 8; bit += 1) {
      const bytes = Buffer.from(TEXT);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const read = async (): Promise<Buffer> => bytes;
      await expect(readBody('/', entry, read)).rejects.toThrow(DamagedFileError);
    }
  });
});
