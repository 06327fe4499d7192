import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkpointText, formatNote } from '../../compiler/contract/checkpoint.ts';
import { CheckpointFile } from '../../compiler/monitor/checkpoint-file.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

function noteOf(size: number, lines = 1, witness?: string): string {
  const root = new Uint8Array(32).fill(size % 251);
  const line = (at: number) => ({
    name: at === lines - 1 ? 'shop.example/log' : (witness ?? `witness.example/${at}`),
    keyHash: Uint8Array.of(1, 2, 3, at),
    signature: new Uint8Array(64).fill(at),
  });
  const text = checkpointText({ origin: 'shop.example/log', size, root });
  return formatNote({ text, signatures: Array.from({ length: lines }, (_, at) => line(at)) });
}

const row = (size: number, lines = 1, witness?: string) => ({
  seen_at: '2026-11-20T12:00:00Z',
  address: 'https://shop.example',
  note: noteOf(size, lines, witness),
});

describe('CheckpointFile', () => {
  it('keeps each size once, and finds it again after a restart', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path);
    for (const size of [5, 9, 9, 12]) file.add(row(size));
    const again = new CheckpointFile(path);
    expect([file.count, again.count]).toEqual([3, 3]);
    expect(again.noteAt(9)).toBe(noteOf(9));
    expect([again.noteAt(8), again.rootAt(8)]).toEqual([null, undefined]);
    expect(again.rootAt(12)).toBe('0c'.repeat(32));
  });

  it('I70: stays bounded over ten thousand checkpoints: the newest all stay, of the older fewer and fewer', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path, { rows: 64 });
    let longest = 0;
    for (let size = 1; size <= 10_000; size += 1) {
      file.add(row(size));
      longest = Math.max(longest, file.count);
    }
    expect(longest).toBeLessThanOrEqual(64);
    expect(statSync(path).size).toBeLessThan(64 * 400);
    for (let size = 10_000; size > 10_000 - 30; size -= 1)
      expect(file.noteAt(size)).toBe(noteOf(size));
    expect(file.rootAt(1)).toBe('01'.repeat(32));
    expect(new CheckpointFile(path, { rows: 64 }).count).toBe(file.count);
  });

  it('stays bounded where a log makes its notes long with lines under its own name', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path, { bytes: 100_000 });
    const own = (size: number) => row(size, 90, 'shop.example/log');
    for (let size = 1; size <= 100; size += 1) file.add(own(size));
    expect(statSync(path).size).toBeLessThanOrEqual(100_000);
    const again = new CheckpointFile(path, { bytes: 100_000 });
    expect([again.noteAt(100), again.count]).toEqual([own(100).note, file.count]);
    expect(again.rootAt(1)).toBe('01'.repeat(32));
  });

  it('leaves lines of witnesses out of a long note, never that of the log', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    const file = new CheckpointFile(path);
    file.add(row(7, 90));
    const kept = file.noteAt(7) ?? '';
    expect(kept.length).toBeLessThanOrEqual(2048);
    expect(kept).toContain('\n\u2014 shop.example/log ');
    expect(kept).toContain('witness.example/0');
  });

  it('drops half a line at the end, and refuses a damaged one', () => {
    const path = join(makeFolder(), 'checkpoints.txt');
    new CheckpointFile(path).add(row(5));
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"seen_`);
    const file = new CheckpointFile(path);
    file.add(row(6));
    expect(new CheckpointFile(path).count).toBe(2);
    writeFileSync(path, 'nothing\n');
    expect(() => new CheckpointFile(path)).toThrow('line 1 is damaged');
  });
});
