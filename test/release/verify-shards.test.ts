import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type FileEntry, formatVerifyEntry } from '../../compiler/format/release.ts';
import { storedPath } from '../../compiler/products/shapes/path.ts';
import { fileWriter } from '../../compiler/release/file-writer.ts';
import { verifyShards } from '../../compiler/release/verify-shards.ts';
import { ForgottenError } from '../../compiler/system/compile-error.ts';
import { makeFolder, removeFolders, sha256Text } from '../snapshot-folder.ts';

afterAll(removeFolders);

const line = (index: number, entity = `${index}`): string =>
  formatVerifyEntry({
    record_hash: `sha256:${sha256Text(String(index))}`,
    kind: 'reading',
    state: 'current',
    file: 'record/a.json',
    signal_id: null,
    entity,
    observed_at: 'x',
  });

const textIn =
  (root: string) =>
  ({ path, sha256 }: FileEntry): string =>
    readFileSync(join(root, storedPath(path, sha256)), 'utf8');

function shardsOf(batches: readonly string[]) {
  const root = makeFolder();
  const shards = verifyShards(join(root, 'scratch'));
  for (const text of batches) shards.add(text);
  const store = {
    data: root,
    spare: join(root, 'spare'),
    isKept: () => false,
    spares: { writeOver: () => false },
  };
  const files = shards.write(fileWriter(store));
  return { files, textOf: textIn(root) };
}

describe('verifyShards()', () => {
  const lines = Array.from({ length: 600 }, (_, index) => line(index));

  it('puts every line into the shard of its first byte, sorted', () => {
    const { files, textOf } = shardsOf([lines.join('')]);
    const texts = files.map(textOf);
    expect(texts.join('').split('\n').length - 1).toBe(600);
    for (const [index, text] of texts.entries()) {
      const rows = text.split('\n').slice(0, -1);
      expect(rows).toEqual([...rows].sort());
      const digits = files[index]?.path.slice('verify/'.length, -'.txt'.length);
      expect(rows.every((row) => row.startsWith(`["sha256:${digits}`))).toBe(true);
    }
  });

  it('I18: writes the same shards in whatever order and portions lines arrive', () => {
    const { files } = shardsOf([lines.join('')]);
    expect(shardsOf([...lines].reverse()).files).toEqual(files);
  });

  it('I34: keeps what it holds bounded and loses nothing when it goes to the disk', () => {
    const padded = Array.from({ length: 90 }, (_, index) => line(index, 'x'.repeat(100_000)));
    const { files } = shardsOf(padded);
    expect(files).toEqual(shardsOf([padded.join('')]).files);
    expect(files.reduce((sum, { size }) => sum + size, 0)).toBe(padded.join('').length);
  });

  it('writes nothing of nothing', () => {
    expect(shardsOf([]).files).toEqual([]);
  });

  it('takes lines away that are known but for some digits, and no other', () => {
    const before = Buffer.from([...lines].sort().join(''));
    const masked = (text: string): string =>
      `${text.slice(0, '["sha256:'.length + 8)}${'*'.repeat(56)}${text.slice('["sha256:'.length + 64)}`;
    const own = (path: string): Buffer => {
      const digits = path.slice('verify/'.length, -'.txt'.length);
      const rows = before.toString().split('\n').slice(0, -1);
      const shard = rows.filter((row) => row.startsWith(`["sha256:${digits}`));
      return Buffer.from(shard.map((row) => `${row}\n`).join(''));
    };
    const [first = '', second = ''] = lines;
    const written = (gone: string, added = ''): string => {
      const root = makeFolder();
      const shards = verifyShards(join(root, 'scratch'), own);
      shards.remove(gone);
      shards.add(added);
      const store = {
        data: root,
        spare: join(root, 'spare'),
        isKept: () => false,
        spares: { writeOver: () => false },
      };
      return shards.write(fileWriter(store)).map(textIn(root)).join('');
    };
    const path = `verify/${first.slice('["sha256:'.length, '["sha256:'.length + 2)}.txt`;
    expect(written(masked(first))).toBe(own(path).toString().replace(first, ''));
    expect(written(masked(first), first)).toBe('');
    const digits = second.slice('["sha256:'.length, '["sha256:'.length + 64);
    const other = first.replace(/[0-9a-f]{64}/, digits);
    for (const missing of [masked(other), masked(line(700))]) {
      expect(() => written(missing)).toThrow(ForgottenError);
    }
  });
});
