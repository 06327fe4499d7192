import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  formatVerifierKey,
  NOTE_KEY,
  openNote,
  parseNote,
} from '../../../../../compiler/format/checkpoint.ts';
import { defined } from '../../../../../compiler/format/errors.ts';
import {
  completeLevels,
  leafHash,
  rangeHash,
  verifyConsistency,
} from '../../../../../compiler/format/merkle.ts';
import { bundleEntries, tilePath } from '../../../../../compiler/format/tiles.ts';
import {
  type AskBy,
  addWitness,
  askedLog,
  askText,
  askWitnesses,
} from '../../../../../compiler/publish/witness/ask-witnesses.ts';
import { lockData } from '../../../../../compiler/system/data-lock.ts';
import { readPolicy } from '../../../../../compiler/verify/policy-check.ts';
import { built } from '../../../../command-runs.ts';
import {
  AskedShop,
  askedNow,
  killerOptions,
  NOW,
  type Reply,
} from '../../../../publish/witness/asked-shop.ts';
import { FOREIGN_LINE, InventedWitness } from '../../../../publish/witness/invented-log.ts';
import { makeFolder, removeFolders } from '../../../../snapshot-folder.ts';

afterAll(removeFolders);

describe('ask witnesses', () => {
  const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
  let shop: AskedShop;
  beforeEach(async () => {
    shop = await AskedShop.open();
  });
  afterEach(() => shop.close());

  describe('askedLog()', () => {
    it('proves that the log goes on from each size that it had', async () => {
      for (let at = 1; at < 6; at += 1) await shop.next(at);
      const { signed, proofFrom } = askedLog(shop.data);
      const { size } = signed;
      const path = tilePath({ level: 'entries', index: 0, width: size });
      const entries = bundleEntries(readFileSync(join(shop.data, path)));
      const leaves = entries.map((entry) => leafHash(entry, sha256));
      const levels = completeLevels(leaves, sha256);
      expect(size).toBe(6);
      for (let size1 = 1; size1 <= size; size1 += 1) {
        const root1 = rangeHash({ start: 0, end: size1 }, levels, sha256);
        const claim = { size1, size2: size, root1, root2: signed.root, proof: proofFrom(size1) };
        expect([size1, verifyConsistency(claim, sha256)]).toEqual([size1, true]);
      }
      writeFileSync(join(shop.data, tilePath({ level: 0, index: 0, width: size })), 'no tile');
      expect(() => proofFrom(3)).toThrow('hashes');
    });

    it('refuses a log that somebody else signed, and a folder without one', () => {
      // The last byte of a signature is small, and often zero already.
      const other = (end: string): string => (end === 'AA=\n' ? 'BA=\n' : 'AA=\n');
      writeFileSync(shop.notePath, shop.noteText.replace(/..=\n$/, other));
      expect(() => askedLog(shop.data)).toThrow('Cannot ask witnesses about "log/checkpoint"');
      expect(() => askedLog(makeFolder())).toThrow('no release in');
    });
  });

  describe('askWitnesses()', () => {
    it('publishes the cosignatures of those that answer, and names those that do not', async () => {
      const [one, two, dead] = [
        await shop.witness('One'),
        await shop.witness('Two'),
        await shop.liar(() => null),
      ];
      const third = `witness Third ${new InventedWitness('t.example').vkey} ${dead}\n`;
      const policy = `log ${shop.vkey}\n${one.line}${two.line}${third}group Most 2 One Two Third\nquorum Most\n`;
      const before = shop.noteText;
      const report = await shop.ask(policy, { timeoutMs: 3000 });
      expect(askText(report)).toContain('  cosigned by One at 2026-11-20T12:30:00Z\n');
      expect(askText(report)).toContain(
        '  no cosignature of Third: no answer in time\nThe policy is met',
      );
      expect(shop.noteText.startsWith(before)).toBe(true);
      expect(signatures()).toHaveLength(3);
      expect(await shop.verified(policy)).toMatch(
        /^0 [\s\S]*witnessed by One at 2026-11-20T12:30:00Z\n/,
      );
    });

    it('asks nobody twice, and keeps what is there', async () => {
      const one = await shop.witness('One');
      const policy = `${one.line}quorum One\n`;
      await shop.ask(policy);
      const before = shop.noteText;
      const asked: string[] = [];
      const report = await shop.ask(policy, {
        fetch: (url: string) => {
          asked.push(url);
          throw new Error('asked again');
        },
      });
      expect([asked, report.lack]).toEqual([[], null]);
      const two = await shop.witness('Two');
      await shop.ask(`${two.line}quorum Two\n`);
      expect(shop.noteText.startsWith(before)).toBe(true);
      expect(
        await shop.verified(`${one.line}${two.line}group Both all One Two\nquorum Both\n`),
      ).toMatch(/^0 /);
    });

    it('goes on with each release, whatever a witness has seen of those before', async () => {
      const [one, two] = [await shop.witness('One'), await shop.witness('Two')];
      const both = `${one.line}${two.line}group Both all One Two\nquorum Both\n`;
      await shop.ask(`${one.line}quorum One\n`);
      await shop.next(1, 40);
      expect((await shop.ask(both)).lack).toBeNull();
      await shop.next(2, 1);
      await shop.next(3, 300);
      expect((await shop.ask(both)).lack).toBeNull();
      expect(await shop.verified(both)).toMatch(/^0 /);
    });

    it.each([
      [
        'a cosignature of another tree',
        () => ({ status: 200, body: forged('7') }),
        'does not hold',
      ],
      ['none of its key', () => ({ status: 200, body: FOREIGN_LINE }), 'no cosignature by the key'],
      ['no lines', () => ({ status: 200, body: 'hello\u0007\n' }), 'no signature lines: hello'],
      ['too much', () => ({ status: 200, body: 'x'.repeat(70_000) }), 'longer than'],
      [
        'a size that this log has not',
        () => ({ status: 409, body: '999999\n' }),
        'it has cosigned 999999',
      ],
      ['no size', () => ({ status: 409, body: 'many\n' }), 'a conflict without a size'],
      ['one size after the other', sizes(), '3 conflicts'],
      ['an error', () => ({ status: 500, body: 'no\n' }), 'status 500: no'],
      [
        'another address',
        () => ({ status: 307, body: '', location: 'http://127.0.0.1:9' }),
        'redirect',
      ],
    ] as const)('publishes nothing of a witness that answers %s', async (_, answer, why) => {
      const url = await shop.liar(answer);
      const before = shop.noteText;
      const text = `witness Liar ${LIAR.vkey} ${url}\nquorum Liar\n`;
      const report = await shop.ask(text);
      expect(report.witnesses).toEqual([
        { name: 'Liar', at: null, failure: expect.stringContaining(why) },
      ]);
      expect(report.lack).toContain('no cosignature of Liar');
      expect(shop.noteText).toBe(before);
    });

    it('asks a busy witness again when it says, and gives up where that is too late', async () => {
      const busy = [429, 503];
      const one = await shop.witness('One');
      const clock = askedNow();
      const fetchBusy: AskBy['fetch'] = async (url, init) => {
        const status = busy.shift();
        if (status === undefined) return fetch(url, init);
        return new Response('busy', {
          status,
          headers: status === 429 ? { 'retry-after': '3' } : {},
        });
      };
      const report = await shop.ask(`${one.line}quorum One\n`, { ...clock, fetch: fetchBusy });
      expect([report.lack, clock.waits]).toEqual([null, [3000, 1000]]);
      const asked: string[] = [];
      const url = await shop.liar((body) => {
        asked.push(body);
        return { status: 429, body: 'busy\n', retryAfter: '11' };
      });
      const { witnesses } = await shop.ask(`witness Liar ${LIAR.vkey} ${url}\nquorum none\n`);
      expect([asked.length, witnesses[0]?.failure]).toEqual([1, 'status 429: busy']);
      const always = await shop.liar((body) => {
        asked.push(body);
        return { status: 429, body: 'busy\n', retryAfter: '0' };
      });
      await shop.ask(`witness Liar ${LIAR.vkey} ${always}\nquorum none\n`);
      expect(asked).toHaveLength(4);
    });

    it('replaces what others wrote under the name of a witness, and asks nobody else again', async () => {
      const [one, two] = [await shop.witness('One'), await shop.witness('Two')];
      const policy = `${one.line}${two.line}group Both all One Two\nquorum Both\n`;
      await shop.ask(policy);
      const sound = shop.noteText;
      const lines = sound.split('\n');
      const at = lines.findIndex((line) => line.includes(' one.example '));
      const forgedLine = (lines[at] ?? '').replace(/.{8}$/, 'AAAAAAA=');
      for (let run = 0; run < 3; run += 1) {
        const forgedLines = lines.toSpliced(at, 1, forgedLine);
        writeFileSync(shop.notePath, forgedLines.join('\n'));
        expect(await shop.verified(policy)).toContain('does not hold');
        const asked: string[] = [];
        const fetchSeen: AskBy['fetch'] = (url, init) => {
          asked.push(url);
          return fetch(url, init);
        };
        expect((await shop.ask(policy, { fetch: fetchSeen })).lack).toBeNull();
        expect(asked.every((url) => one.line.includes(url.replace('add-checkpoint', '')))).toBe(
          true,
        );
        expect(shop.noteText.split('\n').sort()).toEqual([...lines].sort());
        expect(await shop.verified(policy)).toMatch(/^0 /);
      }
    });

    it('keeps the newest line of a witness that holds', async () => {
      const [older, newer] = [new InventedWitness('w.example', 8), await shop.witness('One')];
      const checkpoint = shop.noteText;
      const twice = older.cosign(
        older.cosign(checkpoint, '2026-11-20T12:10:00Z'),
        '2026-11-20T12:20:00Z',
      );
      writeFileSync(shop.notePath, twice);
      const text = `witness W ${older.vkey}\n${newer.line}quorum none\n`;
      const { witnesses } = await shop.ask(text);
      expect(witnesses[0]?.at).toBe('2026-11-20T12:20:00Z');
      expect(signatures().map(({ name }) => name)).toEqual([
        checkpoint.split('\n')[0],
        'w.example',
        'one.example',
      ]);
      expect(shop.noteText).toContain(
        older.cosign(checkpoint, '2026-11-20T12:20:00Z').slice(checkpoint.length),
      );
    });

    it('asks whom only a cosignature of before the release names', async () => {
      const known = new InventedWitness('w.example', 8);
      const checkpoint = shop.noteText;
      const text = `witness W ${known.vkey}\nquorum none\n`;
      for (const [time, at] of [
        ['2026-11-20T11:54:00Z', null],
        ['2026-11-20T11:55:00Z', '2026-11-20T11:55:00Z'],
      ] as const) {
        writeFileSync(shop.notePath, known.cosign(checkpoint, time));
        const { witnesses, lack } = await shop.ask(text);
        expect([witnesses[0]?.at, lack === null]).toEqual([at, at !== null]);
      }
    });

    it('loses no line where several ask at once', async () => {
      const names = ['One', 'Two', 'Three', 'Four'];
      const all = await Promise.all(names.map((name) => shop.witness(name)));
      const reports = await Promise.all(
        all.map(({ line }, at) => shop.ask(`${line}quorum ${names[at]}\n`)),
      );
      expect(reports.map(({ lack }) => lack)).toEqual([null, null, null, null]);
      expect(signatures()).toHaveLength(5);
      expect(existsSync(join(shop.data, '.cosigning'))).toBe(false);
    });

    it('says who does not end that replaces the checkpoint now', async () => {
      const one = await shop.witness('One');
      const unlock = lockData(shop.data, '.cosigning');
      const before = shop.noteText;
      await expect(shop.ask(`${one.line}quorum One\n`)).rejects.toThrow(`process ${process.pid}`);
      expect(shop.noteText).toBe(before);
      unlock();
      expect((await shop.ask(`${one.line}quorum One\n`)).lack).toBeNull();
    });

    it('adds no line where a newer checkpoint took the place of the one that was cosigned', async () => {
      const one = await shop.witness('One');
      const late: AskBy['fetch'] = async (url, init) => {
        const answer = await fetch(url, init);
        await shop.next(1);
        return answer;
      };
      await expect(shop.ask(`${one.line}quorum One\n`, { fetch: late })).rejects.toThrow(
        'it was replaced meanwhile',
      );
      expect(openNote(shop.noteText)?.checkpoint.size).toBe(2);
      expect(signatures()).toHaveLength(1);
    });

    it('I62: takes no cosignature by a key that signs the log', async () => {
      const [own] = readPolicy(Buffer.from(`log ${shop.vkey}\nquorum none\n`)).logs;
      const { publicKey } = defined(own, 'the key of the log').key;
      const key = { name: 'own.example', type: NOTE_KEY.witness, publicKey };
      const asked: string[] = [];
      const url = await shop.liar((body) => {
        asked.push(body);
        return { status: 500, body: 'asked' };
      });
      const line = `witness Own ${formatVerifierKey(key, sha256)} ${url}\n`;
      const { witnesses, lack } = await shop.ask(`${line}quorum Own\n`);
      expect(witnesses[0]?.failure).toBe('its key is that of the log');
      expect([asked, lack]).toEqual([[], expect.stringContaining('Own')]);
      const other = await shop.ask(`${line.replace(/ own\S+/, ` ${LIAR.vkey}`)}quorum Own\n`);
      expect([asked.length, other.witnesses[0]?.failure]).toEqual([1, 'status 500: asked']);
    });

    it('takes no cosignature of a clock that is wrong', async () => {
      const [early, late, older, just] = [
        await shop.witness('Early', () => NOW - 2 * 3_600_000),
        await shop.witness('Late', () => NOW + 2 * 3_600_000),
        // Behind the time of the release by 6 minutes, and by 5, which a reader lets pass.
        await shop.witness('Older', () => Date.parse('2026-11-20T11:54:00Z')),
        await shop.witness('Just', () => Date.parse('2026-11-20T11:55:00Z')),
      ];
      const lines = [early, late, older, just].map(({ line }) => line).join('');
      const { witnesses } = await shop.ask(`${lines}quorum none\n`);
      expect(witnesses.map(({ failure }) => failure)).toEqual([
        'its clock says 2026-11-20T10:30:00Z',
        'its clock says 2026-11-20T14:30:00Z',
        'its clock says 2026-11-20T11:54:00Z',
        null,
      ]);
      expect(await shop.verified(`${just.line}quorum Just\n`)).toMatch(/^0 /);
    });

    it('says who cannot be asked', async () => {
      const { vkey } = LIAR;
      const { witnesses } = await shop.ask(
        `witness A ${vkey}\nwitness B ${new InventedWitness('b', 2).vkey} ftp://x.example\nquorum none\n`,
      );
      expect(witnesses.map(({ failure }) => failure)).toEqual([
        'the policy does not say where it is asked',
        '"ftp://x.example" is not an http address',
      ]);
      await expect(
        askWitnesses(makeFolder(), readPolicy(Buffer.from('quorum none\n')), askedNow()),
      ).rejects.toThrow('no release in');
      await expect(shop.ask('quorum none\n')).rejects.toThrow('the list names none');
    });

    it('is not content under "quorum none" while a witness is missing that is named', async () => {
      const [one, two] = [await shop.witness('One'), await shop.witness('Two')];
      const down = two.line.replace(/ http\S+/, ' http://127.0.0.1:9/');
      const { lack } = await shop.ask(`${one.line}${down}quorum none\n`);
      expect(lack).toBe(
        'its quorum is none, and there is no cosignature of Two; name in the quorum whom you demand',
      );
      expect((await shop.ask(`${one.line}${two.line}quorum none\n`)).lack).toBeNull();
    });

    it('leaves the old checkpoint where it is killed before the new one takes its place', async () => {
      const one = await shop.witness('One');
      const before = shop.noteText;
      // What a kill leaves: the draft, beside the releases.
      writeFileSync(join(shop.data, '.checkpoint.new'), before.slice(0, 40));
      expect(await shop.verified('quorum none\n')).toMatch(/^0 /);
      await shop.ask(`${one.line}quorum One\n`);
      expect(existsSync(join(shop.data, '.checkpoint.new'))).toBe(false);
      expect(await shop.verified(`${one.line}quorum One\n`)).toMatch(/^0 /);
      mkdirSync(join(shop.data, '.checkpoint.new'));
      const two = await shop.witness('Two');
      const kept = shop.noteText;
      await expect(shop.ask(`${two.line}quorum Two\n`)).rejects.toThrow();
      expect(shop.noteText).toBe(kept);
    });
  });

  function signatures() {
    return parseNote(shop.noteText)?.signatures ?? [];
  }

  const LIAR = new InventedWitness('liar.example', 4);

  /** A cosignature of the liar on a tree of another size. */
  function forged(size: string): string {
    const note = shop.noteText.replace(/\n\d+\n/, `\n${size}\n`);
    return LIAR.cosign(note, '2026-11-20T12:30:00Z').slice(note.length);
  }

  function sizes(): () => Reply {
    let size = 0;
    return () => {
      size = 1 - size;
      return { status: 409, body: `${size}\n` };
    };
  }

  describe('addWitness()', () => {
    const policyOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

    it('names a witness in a policy once it cosigned, and no other', async () => {
      const file = join(makeFolder(), 'witnesses.txt');
      const [one, two] = [await shop.witness('One'), await shop.witness('Two')];
      const [first, second] = [one, two].map(({ line }) => {
        const [, , vkey = '', url = ''] = line.trim().split(' ');
        return { data: shop.data, file, vkey, url };
      });
      if (!first || !second) throw new Error('no witnesses');
      expect((await addWitness(first, askedNow())).lack).toBeNull();
      const line = `witness one.example ${first.vkey} ${first.url}\n`;
      const text = `${line}group witnesses all one.example\nquorum witnesses\n`;
      expect(policyOf(file)).toBe(text);
      const strange = { ...second, vkey: new InventedWitness('two.example', 5).vkey };
      expect((await addWitness(strange, askedNow())).lack).toContain(
        'no cosignature of two.example',
      );
      const gone = {
        ...second,
        url: await shop.liar(() => ({ status: 404, body: 'what log?\n' })),
      };
      expect((await addWitness(gone, askedNow())).lack).not.toBeNull();
      expect(policyOf(file)).toBe(text);
      // It stands above the group that may name it, and what the file said stays.
      const grouped = `# ours\nwitness W ${first.vkey} ${first.url}\ngroup G any W\nquorum G\n`;
      writeFileSync(file, grouped);
      expect((await addWitness(second, askedNow())).lack).toBeNull();
      expect(policyOf(file)).toBe(
        grouped.replace('group', `witness two.example ${second.vkey} ${second.url}\ngroup`),
      );
      await expect(addWitness(second, askedNow())).rejects.toThrow('stands in an earlier line');
      await expect(addWitness({ ...second, vkey: 'me' }, askedNow())).rejects.toThrow(
        'Cannot add the witness',
      );
      expect(signatures()).toHaveLength(3);
    });

    it('demands every witness that it named, until the owner of the policy edits that', async () => {
      const file = join(makeFolder(), 'witnesses.txt');
      const lines: string[] = [];
      const add = async (name: string): Promise<void> => {
        const { line } = await shop.witness(name);
        const [, , vkey = '', url = ''] = line.trim().split(' ');
        lines.push(`witness ${name.toLowerCase()}.example ${vkey} ${url}\n`);
        expect(
          (await addWitness({ data: shop.data, file, vkey, url }, askedNow())).lack,
        ).toBeNull();
      };
      const expected = (group: string) => `${lines.join('')}group ${group}\nquorum witnesses\n`;
      await add('One');
      await add('Two');
      expect(policyOf(file)).toBe(expected('witnesses all one.example two.example'));
      expect((await shop.ask(policyOf(file))).lack).toBeNull();
      // The next release: one of both is down.
      await shop.next(1);
      const down = policyOf(file).replace(/ http\S+\n/, ' http://127.0.0.1:9/\n');
      expect((await shop.ask(down)).lack).toContain('1 of 2 of witnesses (without one.example)');
      expect(await shop.verified(down)).toMatch(/^1 /);
      expect((await shop.ask(policyOf(file))).lack).toBeNull();
      expect(await shop.verified(policyOf(file))).toMatch(/^0 /);
      writeFileSync(file, expected('witnesses any one.example two.example'));
      await add('Three');
      expect(policyOf(file)).toBe(expected('witnesses any one.example two.example three.example'));
      // What an earlier version wrote.
      writeFileSync(file, `${lines.join('')}quorum none\n`);
      await add('Four');
      const names = ['one', 'two', 'three', 'four'].map((name) => `${name}.example`);
      expect(policyOf(file)).toBe(expected(`witnesses all ${names.join(' ')}`));
    });
  });
});

describe('signalpress witness ask, killed at any step (needs a build)', () => {
  let shop: AskedShop;
  beforeEach(async () => {
    shop = await AskedShop.open();
  });
  afterEach(() => shop.close());
  /** More than the calls that put a checkpoint in its place. */
  const STEPS = 16;

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
