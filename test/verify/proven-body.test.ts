import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { withoutProof } from '../../compiler/format/citation.ts';
import { formatKeyHistory } from '../../compiler/format/key-history.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { formatTlogProof, parseTlogProof } from '../../compiler/format/tlog-proof.ts';
import { nodeDisk } from '../../compiler/system/disk.ts';
import { givenKeys } from '../../compiler/verify/given-keys.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { type BodyTrust, verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify, type VerifyCommandOptions } from '../../compiler/verify/verify-command.ts';
import { FOREIGN_LINE, InventedWitness } from '../publish/witness/invented-log.ts';
import { didOf } from '../seeded-keys.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { hex, Log, listOf, noon, signedBody } from './invented-issuer.ts';

afterAll(removeFolders);

// The first key signs until the 12th, the second one from the 10th on. It is the 20th.

const [K1, K2] = [didOf(1), didOf(2)];
const LATER = Date.parse(noon(20));
const WINDOWS = { from: noon(10), until: noon(12) };
const KEYS = listOf([1, 2], WINDOWS);
const log = new Log();
const [btc, eth, sol] = ['btc', 'eth', 'sol'].map((entity) => signedBody(1, { entity })) as [
  JsonObject,
  JsonObject,
  JsonObject,
];
const first = log.add([btc, eth, sol], noon(6));
const second = log.add([btc, eth, signedBody(1, { entity: 'sol', day: 7 })], noon(7));
const young = signedBody(2, { day: 14 });
const third = log.add([young, signedBody(2, { entity: 'eth', day: 14 })], noon(14));
const OLD = { size: 2, signers: [1] };
const NEW = { signers: [2] };
const old = log.proven(btc, first, OLD);

const judge = (body: JsonObject, trust: Partial<BodyTrust> = {}) =>
  verifyBody(body, { trust: [K1], keys: KEYS, now: LATER, proof: 'noted', ...trust });
const verdict = (...asked: Parameters<typeof judge>) => judge(...asked).verdict;
const detail = (check: string, ...asked: Parameters<typeof judge>) =>
  judge(...asked).checks.find((one) => one.check === check)?.detail ?? '';
const inTime = { now: Date.parse(noon(8)) };

/** The log as a reader saved it. */
function saved(checkpoint = NEW as Parameters<Log['write']>[1], of = log): string {
  const folder = makeFolder();
  of.write(folder, checkpoint);
  return folder;
}
const given = (folder: string) => givenKeys(nodeDisk, folder, { trust: [K1] });
const newest = given(saved());

describe('a proof', () => {
  it('I72: shows that a statement is the answer of a release', () => {
    expect(verdict(log.proven(btc, first, NEW))).toBe('verified');
    expect(detail('logged', log.proven(btc, first, NEW))).toBe(
      `the answer to its request in release 1 of ${noon(6)}, entry 0 of readings.example/log: witnessed by nobody`,
    );
    for (const body of [btc, eth]) {
      expect(verdict(log.proven(body, second, NEW))).toBe('verified');
    }
    expect(verdict(log.proven(young, third, NEW))).toBe('verified');
    expect(verdict({ sample: old }, inTime)).toBe('verified');
  });

  it('I72: fails for another statement, another release, another log, or another path', () => {
    const fails = (body: JsonObject) => expect(verdict(body, inTime)).toBe('failed');
    // The second release answers the request for sol otherwise.
    fails(log.proven(sol, second, OLD));
    fails({ ...eth, _proof: old._proof ?? null });
    fails({ ...signedBody(1, { words: 'other words' }), _proof: old._proof ?? null });
    fails(log.proven(signedBody(1, { base: 'https://other.example' }), first, OLD));
    fails(log.proven(btc, first, { ...OLD, signers: [3] }));
    fails({ ...old, _proof: 1 });
    const { index, hashes, checkpoint } = parseTlogProof(String(old._proof));
    const proof = { index, hashes, checkpoint };
    fails({ ...old, _proof: formatTlogProof(proof) });
    for (const extra of [first.extra(eth), second.extra(btc)]) {
      fails({ ...old, _proof: formatTlogProof({ ...proof, extra }) });
    }
    expect(old._proof).toBe(formatTlogProof({ ...proof, extra: first.extra(btc) }));
  });

  it('I72: fails with any other character in it', () => {
    const text = String(old._proof);
    for (let at = 0; at < text.length; at += 3) {
      const changed = text[at] === 'A' ? 'B' : 'A';
      const _proof = text.slice(0, at) + changed + text.slice(at + 1);
      expect([at, verdict({ ...old, _proof }, inTime)]).toEqual([at, 'failed']);
    }
  });

  it('I72: is of a release that was not made before the body, nor of a time to come', () => {
    const fork = new Log();
    const early = fork.add([btc], '2026-11-05T11:54:00Z');
    const near = fork.add([btc], '2026-11-05T11:56:00Z');
    const proven = (release: typeof early) => fork.proven(btc, release, { signers: [1] });
    expect(detail('logged', proven(early), inTime)).toContain('after its release of');
    expect(verdict(proven(near), inTime)).toBe('verified');
    expect(detail('logged', old, { now: Date.parse(noon(5)) })).toContain('still to come');
    const said = (answered_at: string) => ({
      ...old,
      provenance: { answered_at, at_request: ['answered_at'] },
    });
    expect(detail('logged', said(noon(5)), inTime)).toContain('before its release of');
    expect(detail('logged', said(noon(7)), inTime)).toContain('the answer to its request');
  });

  it('I72: is owed by what a claim signs whole, and by a sample of it', () => {
    const open = 'no proof that it is in the log came with it';
    const verdicts = (body: JsonObject, proof?: 'demanded' | 'noted') =>
      verifyBody(body, { trust: [K1], ...(proof === undefined ? {} : { proof }) });
    for (const body of [btc, { sample: btc }]) {
      expect(verdicts(body).checks.some(({ check }) => check === 'logged')).toBe(false);
      const noted = verdicts(body, 'noted').checks.find(({ check }) => check === 'logged');
      expect([noted?.status, noted?.detail]).toEqual([
        'not_applicable',
        expect.stringContaining(open),
      ]);
      expect(verdicts(body, 'demanded').verdict).toBe('failed');
      const options = { issuer: K1, now: LATER };
      expect(verify(JSON.stringify(body), options).verdict).toBe('unproven');
    }
  });

  it('is no member of anything deeper inside', () => {
    const words = { ...btc, inside: { _proof: old._proof ?? null } };
    expect(verdict(words, inTime)).toBe('failed');
  });

  it('I43: reads a note as often for 256 keys as for one', () => {
    const read = vi.spyOn(globalThis, 'atob');
    const readings = (body: JsonObject, more: number): number => {
      const fills = Array.from({ length: more + 1 }, (_, at) => at + 1);
      const windows = fills.slice(1).map(() => ({ from: noon(8), until: noon(8) }));
      read.mockClear();
      judge(body, { keys: listOf(fills, windows) });
      return read.mock.calls.length;
    };
    try {
      for (const body of [old, log.answer(first, 0, OLD)]) {
        expect(readings(body, 0)).toBeGreaterThan(0);
        expect(readings(body, 200)).toBe(readings(body, 0));
      }
    } finally {
      read.mockRestore();
    }
  });

  it('I72: in an overlap, one key that is trusted is enough, and each that is known has to hold', () => {
    const inOverlap = { now: Date.parse(noon(11)) };
    const both = { size: 2, signers: [1, 2] };
    expect(verdict(log.proven(btc, first, both), inOverlap)).toBe('verified');
    expect(verdict(log.proven(btc, first, { ...both, signers: [2, 3] }), inOverlap)).toBe(
      'verified',
    );
    const forge = (note: string) => {
      const at = note.lastIndexOf('\n', note.length - 2) - 9;
      return note.slice(0, at) + (note[at] === 'A' ? 'B' : 'A') + note.slice(at + 1);
    };
    const forged = log.proven(btc, first, { ...both, change: forge });
    expect(detail('logged', forged, inOverlap)).toContain('its signature does not hold');
    const foreign = log.proven(btc, first, { ...both, change: (note) => note + FOREIGN_LINE });
    expect(verdict(foreign, inOverlap)).toBe('verified');
  });
});

describe('a body of a key that has ended', () => {
  it('I28: cannot be judged by the list alone, and holds with the log', () => {
    expect(verdict(old, inTime)).toBe('verified');
    expect(verdict(old)).toBe('unsigned');
    expect(detail('anchor', old)).toContain('nothing but a key of the past');
    expect(verdict(old, newest)).toBe('verified');
    expect(verdict(withoutProof(old).body as JsonObject)).toBe('unsigned');
  });

  it('I28: of its release a log from before shows no more, and one of another service nothing', () => {
    expect(verdict(old, given(saved({ size: 1, signers: [1] })))).toBe('unsigned');
    const other = new Log('other.example/log');
    other.add([btc], noon(6));
    expect(verdict(old, given(saved(NEW, other)))).toBe('unsigned');
  });

  it('I29: fails where the log that was passed holds another release there, or is past it', () => {
    const fork = new Log();
    fork.add([eth], noon(6));
    fork.add([eth], noon(14));
    expect(detail('logged', old, given(saved(NEW, fork)))).toContain('holds another release');
    const long = new Log();
    for (const day of [6, 7, 8, 9]) long.add([btc], noon(day));
    const last = long.releases[3] ?? first;
    const body = long.proven(btc, last, { signers: [1] });
    expect(detail('logged', body, newest)).toContain('does not hold its release');
  });

  it('I29: of a revoked key what was published before counts, and nothing else', () => {
    const keys = (revoked: string) => listOf([1, 2], WINDOWS, revoked);
    const { log: led } = newest;
    expect(verdict(old, { keys: keys(noon(8)) })).toBe('unsigned');
    expect(verdict(old, { keys: keys(noon(8)), ...(led && { log: led }) })).toBe('verified');
    expect(verdict(old, { keys: keys(noon(6)), ...(led && { log: led }) })).toBe('failed');
  });

  it('I29: whoever has it now re-signs logged content under other words in vain', () => {
    const words = signedBody(1, { words: 'other words' });
    // With the genuine proof, with a tree and a checkpoint of its own, or without one.
    expect(verdict({ ...words, _proof: old._proof ?? null }, newest)).toBe('failed');
    const own = new Log();
    const release = own.add([words, eth, sol], noon(6));
    const forged = own.proven(words, release, { signers: [1] });
    expect(verdict(forged)).toBe('unsigned');
    expect(verdict(forged, newest)).toBe('failed');
    expect(verdict(words, newest)).toBe('unsigned');
    const aged = own.proven(words, own.add([words], noon(13)), { signers: [1] });
    expect(verdict(aged)).toBe('failed');
  });

  it('a block that the reader found shows it too, unless it is of before the release, or too late', () => {
    const block = (at: string) => ({ block: { root: hex(log.tree.root(2)), at } });
    expect(verdict(old, block(noon(11)))).toBe('verified');
    expect(verdict(old, block(noon(13)))).toBe('unsigned');
    expect(verdict(old, block(noon(4)))).toBe('unsigned');
    expect(detail('logged', old, block(noon(4)))).toContain(`the block is of ${noon(4)}`);
    expect(verdict(old, { block: { ...block(noon(11)).block, root: hex(log.tree.root(3)) } })).toBe(
      'unsigned',
    );
  });
});

describe('a year with two rotations', () => {
  const month = (at: number, day: number) =>
    `2025-${String(at).padStart(2, '0')}-${String(day).padStart(2, '0')}T12:00:00Z`;
  const year = new Log();
  const keys = listOf(
    [1, 2, 3],
    [
      { from: month(5, 1), until: month(5, 20) },
      { from: month(9, 1), until: month(9, 20) },
    ],
  );
  const fillOf = (at: number) => (at < 5 ? 1 : at < 9 ? 2 : 3);
  const bought = Array.from({ length: 12 }, (_, at) => at + 1).map((at) => {
    const body = signedBody(fillOf(at), { observed_at: month(at, 10) });
    const release = year.add([body], month(at, 11));
    return { at, body: year.proven(body, release, { signers: [fillOf(at)] }) };
  });
  const now = Date.parse(month(12, 20));

  it('I28: each body that was bought is verified by who has the log, and none is refuted without', () => {
    const { log: led } = given(saved({ signers: [3] }, year));
    const verdicts = (more: Partial<BodyTrust>) =>
      bought.map(({ body }) => verdict(body, { keys, now, ...more }));
    expect(verdicts(led === undefined ? {} : { log: led })).toEqual(bought.map(() => 'verified'));
    expect(verdicts({})).toEqual(bought.map(({ at }) => (at < 9 ? 'unsigned' : 'verified')));
  });

  it('I29: nothing that a past key signs now is, whatever its date', () => {
    const { log: led } = given(saved({ signers: [3] }, year));
    for (const { at } of bought.filter(({ at }) => at < 9)) {
      const fork = new Log();
      for (let one = 1; one < at; one += 1) fork.add([btc], month(one, 11));
      const body = signedBody(fillOf(at), { observed_at: month(at, 10), words: 'other' });
      const release = fork.add([body], month(at, 11));
      const forged = fork.proven(body, release, { signers: [fillOf(at)] });
      expect(verdict(forged, { keys, now })).toBe('unsigned');
      expect(verdict(forged, { keys, now, ...(led && { log: led }) })).toBe('failed');
    }
  });
});

describe('a policy of witnesses', () => {
  const [W1, W2] = [new InventedWitness('w.example/1', 11), new InventedWitness('w.example/2', 12)];
  const ONE = W1.policyLine('First');
  const BOTH = `${ONE}${W2.policyLine('Second')}group Both all First Second\nquorum Both\n`;
  const ANY = `${ONE}${W2.policyLine('Second')}group Any any First Second\nquorum Any\n`;
  const policyOf = (text: string) => readPolicy(Buffer.from(text));
  const seen = (change: (note: string) => string) => log.proven(btc, first, { ...OLD, change });
  const at = (day: number) => seen((note) => W1.cosign(note, noon(day)));

  it('I71: shows that a release is older than the end of its key', () => {
    expect(verdict(at(8), { policy: policyOf(ANY) })).toBe('verified');
    expect(detail('logged', at(8), { policy: policyOf(ANY) })).toContain(
      `witnessed by First at ${noon(8)}`,
    );
    expect(verdict(at(12), { policy: policyOf(ANY) })).toBe('unsigned');
  });

  it('I71: fails by name without the quorum, or without a proof', () => {
    const lack = (body: JsonObject) =>
      detail('logged', body, { ...inTime, policy: policyOf(BOTH) });
    expect(lack(at(7))).toBe(
      'not witnessed as the policy demands: 1 of 2 of Both (without Second)',
    );
    expect(lack(btc)).toContain('no proof');
    const both = seen((note) => W2.cosign(W1.cosign(note, noon(7)), noon(8)));
    expect(lack(both)).toContain(`witnessed by First at ${noon(7)}, witnessed by Second at`);
  });

  it('I71: does not count a time of before the release, or to come, and names the first', () => {
    const early = seen((note) => W1.cosign(note, '1970-01-02T00:00:00Z'));
    const near = seen((note) => W1.cosign(note, '2026-11-06T11:56:00Z'));
    const policy = policyOf(ANY);
    expect(detail('logged', early, { ...inTime, policy })).toContain(
      'First says 1970-01-02T00:00:00Z, which is before it was there, and does not count',
    );
    expect(verdict(early, { ...inTime, policy })).toBe('failed');
    expect(verdict(near, { ...inTime, policy })).toBe('verified');
    expect(verdict(at(9), { ...inTime, policy })).toBe('failed');
    // Where the policy asks for nobody it is named all the same.
    const none = policyOf(`${ONE}quorum none\n`);
    expect([
      verdict(early, { ...inTime, policy: none }),
      detail('logged', early, { ...inTime, policy: none }),
    ]).toEqual(['verified', expect.stringContaining('does not count')]);
  });

  it('I71: takes no key of the log for a witness', () => {
    const own = new InventedWitness('w.example/1', 1);
    const policy = policyOf(`${own.policyLine('First')}quorum First\n`);
    const body = seen((note) => own.cosign(note, noon(7)));
    expect(detail('logged', body, { ...inTime, policy })).toContain('has a key of the log itself');
    expect(verdict(body, { ...inTime, policy })).toBe('failed');
    // Nor one of another key of its issuer.
    const next = new InventedWitness('w.example/1', 2);
    const after = policyOf(`${next.policyLine('First')}quorum First\n`);
    const cosigned = seen((note) => next.cosign(note, noon(7)));
    expect(verdict(cosigned, { ...inTime, policy: after })).toBe('failed');
    expect(verdict(cosigned, { ...inTime, policy: after, trust: 'any' })).toBe('failed');
  });

  it('fails with a forged line of a witness that is known, and with no log that it lists', () => {
    const forge = (note: string) => {
      const end = W1.cosign(note, noon(7));
      return end.slice(0, -10) + (end.at(-10) === 'A' ? 'B' : 'A') + end.slice(-9);
    };
    const body = seen((note) => W2.cosign(forge(note), noon(7)));
    expect(detail('logged', body, { ...inTime, policy: policyOf(ANY) })).toBe(
      'the cosignature of First does not hold',
    );
    const other = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8';
    const listed = policyOf(`log ${other}\nquorum none\n`);
    expect(detail('logged', old, { ...inTime, policy: listed })).toContain('signed by no log');
  });
});

describe('verify', () => {
  const run = async (body: JsonObject, more: Partial<VerifyCommandOptions> = {}) => {
    const readStdin = () => Buffer.from(JSON.stringify(body));
    return runVerify('-', { issuer: [K1], now: inTime.now, readStdin, ...more });
  };

  it('says where a body is logged, or that no proof came, and fails that where witnesses are demanded', async () => {
    const { exitCode, text } = await run(old, { verbose: true });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^ {2}Logged: .*entry 0 of readings\.example\/log: witnessed by nobody$/m);
    expect(text).toMatch(/^ {2}Warning: nobody else saw its log/m);
    expect(text).toMatch(
      /^ {2}ok {4}logged {8}_proof {2}the answer to its request in release 1 of .*, entry 0 of readings\.example\/log/m,
    );
    const open = await run(btc);
    expect(open.exitCode).toBe(2);
    expect(open.text).toMatch(
      /^cannot be judged {2}-: buy it again with its proof, or say with --expect/,
    );
    expect(open.text).toMatch(/^ {2}Warning: not shown to be logged: no proof .*$/m);
    const policy = readPolicy(Buffer.from('quorum none\n'));
    expect((await run(btc, { policy })).exitCode).toBe(1);
    const { verdict: said, release } = JSON.parse((await run(old, { json: true })).text);
    expect([said, release]).toEqual(['verified', first.entry]);
  });
});

describe('verify --mirror', () => {
  const list = (folder: string) => {
    mkdirSync(join(folder, '.well-known'));
    writeFileSync(join(folder, '.well-known/keys.json'), formatKeyHistory(KEYS));
    return folder;
  };
  const run = async (body: JsonObject, keys: string, more = {}) => {
    const readStdin = () => Buffer.from(JSON.stringify(body));
    return runVerify('-', { issuer: [K1], now: LATER, keys, readStdin, ...more });
  };

  it('takes what was saved of a site: its list, and its log', async () => {
    const site = list(saved());
    expect(await run(old, site)).toMatchObject({ exitCode: 0 });
    const alone = await run(old, join(site, '.well-known/keys.json'));
    expect([alone.exitCode, alone.text]).toEqual([
      2,
      expect.stringMatching(
        /^cannot be judged {2}-: its key has ended, and nothing here shows that it is older; pass the log/,
      ),
    ]);
    const words = { ...signedBody(1, { words: 'other' }), _proof: old._proof ?? null };
    expect(await run(words, site)).toMatchObject({ exitCode: 1 });
  });

  it('refuses a folder with neither, and a log whose files do not give its root', async () => {
    const empty = await run(old, makeFolder());
    expect([empty.exitCode, empty.text]).toEqual([2, expect.stringContaining('without a release')]);
    const site = list(saved());
    for (const path of ['tile/0/000.p/3', 'tile/entries/000.p/3']) {
      const place = join(site, 'log', path);
      const bytes = readFileSync(place);
      writeFileSync(place, bytes.with(bytes.length - 1, 1 ^ (bytes.at(-1) ?? 0)));
      const { exitCode, text } = await run(old, site);
      expect([exitCode, text]).toEqual([2, expect.stringContaining('Cannot use the log')]);
      writeFileSync(place, bytes);
    }
    expect(await run(old, site)).toMatchObject({ exitCode: 0 });
  });
});

describe('a saved answer of the log', () => {
  const answer = log.answer(second, 1, NEW);
  const inside = ({ endpoint, hash, found, note, ...inclusion }: JsonObject): JsonObject => ({
    ...{ endpoint: 'proof', hash: hash ?? null, found: true, hash_core: null, note: 'words' },
    inclusion,
  });
  const fault = (body: JsonObject, trust: Partial<BodyTrust> = {}) =>
    judge(body, trust).checks.find(({ status }) => status === 'fail')?.where;

  it('I72: shows that a release took a hash in, and that it is in the log', () => {
    for (const body of [answer, inside(answer)]) {
      expect([verdict(body), judge(body).issuer]).toEqual(['partly_verified', K2]);
      expect(verdict(body, { trust: 'any', keys: undefined })).toBe('issuer_unknown');
    }
  });

  it('I72: fails with any part of it changed, and with a member that no answer has', () => {
    const others = log.answer(first, 0, OLD);
    const names = Object.keys(answer).filter(
      (name) => !['endpoint', 'found', 'note', 'checkpoint', 'entry_proof'].includes(name),
    );
    expect(names).toHaveLength(8);
    for (const name of names) {
      expect([name, fault({ ...answer, [name]: others[name] ?? null })]).toEqual([
        name,
        expect.any(String),
      ]);
    }
    expect(fault({ ...answer, entry_proof: [] })).toBe('entry_proof');
    expect(fault({ ...answer, checkpoint: log.note(OLD) })).toBe('entry_proof');
    expect(fault({ ...answer, more: 1 })).toBe('more');
    expect(fault({ ...answer, '': 1 })).toBe('');
    const odd = inside(answer);
    expect(fault({ ...odd, inclusion: { ...(odd.inclusion as JsonObject), more: 1 } })).toBe(
      'inclusion.more',
    );
    expect(fault({ ...answer, hash_core: { signal_id: 'x' } })).toBe('hash_core');
  });

  it('I29: under a checkpoint of the past it is judged with the log, and not without', () => {
    const past = log.answer(second, 1, OLD);
    expect(verdict(past, inTime)).toBe('partly_verified');
    expect(verdict(past)).toBe('unsigned');
    expect(verdict(past, newest)).toBe('partly_verified');
    const fork = new Log();
    fork.add([eth], noon(6));
    expect(fault(fork.answer(fork.releases[0] ?? first, 0, { signers: [1] }), newest)).toBe(
      'checkpoint',
    );
  });

  it('proves nothing where nothing was found', () => {
    expect(verdict({ endpoint: 'gauge/anchor', hash: String(answer.hash), found: false })).toBe(
      'unsigned',
    );
  });
});
