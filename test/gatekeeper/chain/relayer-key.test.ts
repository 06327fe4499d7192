import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relayerKey } from '../../../gatekeeper/money/address.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalpress-relayer-'));
const HEX = 'Ab'.repeat(32);

function keyFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('relayerKey()', () => {
  it('relayerKey() takes 64 hex digits, or a file of its owner with them', () => {
    const key = `0x${HEX.toLowerCase()}`;
    expect(relayerKey(HEX)).toBe(key);
    expect(relayerKey(`0x${HEX}`)).toBe(key);
    expect(relayerKey(keyFile('good', `0x${HEX}\n`))).toBe(key);
  });

  it('relayerKey() refuses everything else and repeats none of it', () => {
    const refused: [string, RegExp][] = [
      [HEX.slice(1), /neither an existing file nor 64 hex digits/],
      [join(folder, 'absent'), /neither an existing file nor 64 hex digits/],
      [keyFile('shared', HEX, 0o640), /others may read it/],
      [keyFile('wrong', `${HEX}00`), /not 64 hex digits/],
    ];
    for (const [setting, why] of refused) {
      expect(() => relayerKey(setting)).toThrow(why);
      expect(() => relayerKey(setting)).not.toThrow(new RegExp(HEX.slice(1, 20)));
    }
  });
});
