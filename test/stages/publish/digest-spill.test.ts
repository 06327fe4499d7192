import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DigestSpill } from '../../../compiler/stages/publish/digest-spill.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

const FEW = 2000;
/** More than are held in memory, twice. */
const MANY = 300_000;
const LINE_BYTES = 36;

function lineOf(at: number, number: number): Buffer {
  const line = Buffer.concat([hash('sha256', String(at), 'buffer'), Buffer.alloc(4)]);
  line.writeUInt32BE(number, 32);
  return line;
}

function filled(spill: DigestSpill, count: number, numberOf: (at: number) => number): Buffer[] {
  return Array.from({ length: count }, (_, at) => {
    const line = lineOf(at, numberOf(at));
    spill.add(line.subarray(0, 32), numberOf(at));
    return line;
  });
}

function groupsOf(lines: readonly Buffer[]): Map<number, Buffer[]> {
  const groups = new Map<number, Buffer[]>();
  for (const line of lines) {
    const first = line[0] ?? 0;
    const group = groups.get(first);
    if (group === undefined) groups.set(first, [line]);
    else group.push(line);
  }
  return groups;
}

describe('DigestSpill', () => {
  it.each([
    [FEW, false],
    [MANY, true],
  ])('I34: gives %i digests by their first byte, on the disk: %s', (count, isOnDisk) => {
    const folder = join(makeFolder(), 'spill');
    const spill = DigestSpill.byFirstByte(folder);
    const lines = filled(spill, count, (at) => at);
    expect(existsSync(folder)).toBe(isOnDisk);
    const byFirst = groupsOf(lines);
    for (let first = 0; first < 256; first += 1) {
      const want = Buffer.concat(byFirst.get(first) ?? []);
      expect(spill.group(first).equals(want), `first byte ${first}`).toBe(true);
    }
  });

  it('gives the digests of each number in the order in which they came, some at a time', () => {
    const spill = DigestSpill.byNumber(join(makeFolder(), 'spill'), 2);
    const lines = filled(spill, MANY, (at) => (at % 3 === 0 ? 1 : 0));
    const want = lines.filter((_, at) => at % 3 === 0);
    const pieces = [...spill.pieces(1)];
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.slice(0, -1).every(({ length }) => length <= 8192 * LINE_BYTES)).toBe(true);
    expect(Buffer.concat(pieces).equals(Buffer.concat(want))).toBe(true);
  });

  it('has no digest of a group that none was added to', () => {
    expect(DigestSpill.byNumber('', 2).group(0)).toHaveLength(0);
  });
});
