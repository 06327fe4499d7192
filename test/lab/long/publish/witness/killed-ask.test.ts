import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { built } from '../../../../built.ts';
import { AskedShop } from '../../../../publish/witness/asked-shop.ts';
import { killerOptions } from '../../../../publish/witness/killer.ts';
import { removeFolders } from '../../../../snapshot-folder.ts';

let shop: AskedShop;
beforeEach(async () => {
  shop = await AskedShop.open();
});
afterEach(() => shop.close());
afterAll(removeFolders);

/** More than the calls that put a checkpoint in its place. */
const STEPS = 16;

describe('signalpress witness ask, killed at any step (needs a build)', () => {
  it('leaves the old checkpoint or the new one', async () => {
    // The program has a clock of its own.
    const one = await shop.witness('One', () => Date.now());
    const policy = `log ${shop.vkey}\n${one.line}quorum One\n`;
    const file = join(shop.folder, 'policy.txt');
    writeFileSync(file, policy);
    const before = shop.noteText;
    const options = killerOptions(shop.folder);
    const args = [
      built('compiler/signalpress.js'),
      'witness',
      'ask',
      '--policy',
      file,
      '--data',
      shop.data,
    ];
    const ends: string[] = [];
    for (let at = 0; at < STEPS; at += 1) {
      writeFileSync(shop.notePath, before);
      const env = { KILL_AT: String(at), KILL_FROM: '.checkpoint.new' };
      const child = spawn(process.execPath, [...options, ...args], { env, stdio: 'ignore' });
      const code = await new Promise((resolve) => child.on('exit', resolve));
      const isNew = shop.noteText !== before;
      if (isNew) expect(shop.noteText.slice(before.length)).toMatch(/^\u2014 one\.example \S+\n$/);
      expect(shop.noteText.startsWith(before)).toBe(true);
      expect([at, await shop.verified('quorum none\n')]).toEqual([
        at,
        expect.stringMatching(/^0 /),
      ]);
      ends.push(`${code ?? 'killed'} ${isNew ? 'new' : 'old'}`);
    }
    expect(new Set(ends)).toEqual(new Set(['killed old', 'killed new', '0 new']));
    expect(ends.at(-1)).toBe('0 new');
  });
});
