import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { askAfter } from '../../compiler/commands/ask-after.ts';
import { smallSet } from '../small-set.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { InventedLog } from '../witness/invented-log.ts';
import { StubWitness } from '../witness/stub-witness.ts';

const NOW = Date.parse('2026-11-20T12:30:00Z');
/** The key that signs the log of `compileFolder`. */
const LOG = new InventedLog({ origin: 'example.org/log', seed: 7 });

afterAll(removeFolders);

describe('askAfter()', () => {
  it.each(['quorum W', 'quorum none'])(
    'asks a witness again that was down when the release came, under "%s", and tells once that it signed',
    async (quorum) => {
      let asked = 0;
      const now = (): number => {
        asked += 1;
        return NOW;
      };
      const witness = new StubWitness({ name: 'w.example', logs: [LOG.key], now });
      const first = await witness.serve();
      await first.close();
      const witnesses = join(makeFolder(), 'witnesses.txt');
      const line = `witness W ${witness.vkey} http://127.0.0.1:${first.port}`;
      writeFileSync(witnesses, `${line}\n${quorum}\n`);
      const data = join(makeFolder(), 'data');
      const told: string[] = [];
      const settings = { now: () => NOW, print: (text: string) => told.push(text) };
      const { ask, askAgain } = askAfter({ data, witnesses }, settings);
      // Before the first release there is nothing to ask about.
      await askAgain();
      expect(told).toEqual([]);
      await compileFolder(writeSnapshots(smallSet()), { data });
      await ask();
      expect(told).toEqual([expect.stringContaining('The policy is not met')]);
      await askAgain();
      expect(told).toHaveLength(1);
      const second = await witness.serve(first.port);
      await askAgain();
      expect(told.slice(1)).toEqual([expect.stringContaining('cosigned by W at 2026-11-20T12:30')]);
      const before = asked;
      await askAgain();
      expect([told.length, asked]).toEqual([2, before]);
      await second.close();
    },
  );

  it('asks nobody without a policy, and refuses a bad one before anything is done', async () => {
    const told: string[] = [];
    const settings = { now: () => NOW, print: (text: string) => told.push(text) };
    const { ask, askAgain } = askAfter({ data: '/nowhere' }, settings);
    await ask();
    await askAgain();
    expect(told).toEqual([]);
    const witnesses = join(makeFolder(), 'witnesses.txt');
    writeFileSync(witnesses, 'witness\n');
    expect(() => askAfter({ data: '/nowhere', witnesses }, settings)).toThrow('--witnesses');
  });
});
