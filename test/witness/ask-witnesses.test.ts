import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  completeLevels,
  leafHash,
  rangeHash,
  verifyConsistency,
} from '../../compiler/contract/merkle.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { decodeBundle, logEntry, tilePath, tilesOf } from '../../compiler/contract/tiles.ts';
import { formatTlogProof, parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { currentRelease } from '../../compiler/stages/anchor/current-release.ts';
import { lockData } from '../../compiler/stages/publish/data-lock.ts';
import { canonicalDigest } from '../../compiler/stages/seal/canonical-digest.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { addWitness } from '../../compiler/witness/add-witness.ts';
import { askText, askWitnesses } from '../../compiler/witness/ask-witnesses.ts';
import { askedLog } from '../../compiler/witness/asked-log.ts';
import type { AskBy } from '../../compiler/witness/witness-client.ts';
import { type ServedWitness, serveWitness } from '../../compiler/witness/witness-server.ts';
import {
  makeWitness,
  openWitness,
  type WitnessStore,
} from '../../compiler/witness/witness-store.ts';
import { built } from '../built.ts';
import { VirtualClock } from '../fetch/virtual-clock.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { FOREIGN_LINE, InventedWitness } from './invented-witness.ts';
import { killerOptions } from './killer.ts';

const NOW_TEXT = '2026-11-20T12:30:00Z';
const NOW = Date.parse(NOW_TEXT);
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

let snapshots: string;
let data: string;
let did: string;
const open: { close(): unknown }[] = [];

/** Publishes the next hour, with so many readings more. */
async function hour(at: number, count = 1): Promise<void> {
  const day = `2026-11-${10 + at}`;
  const rows = Array.from({ length: count }, (_, n) => {
    const observed_at = `${day}T10:${String(n % 60).padStart(2, '0')}:${String(Math.floor(n / 60)).padStart(2, '0')}Z`;
    return reading(
      'btc',
      { price_usd: 90_000 + at + n },
      { observed_at, collected_at: `${day}T11:00:00Z` },
    );
  });
  writeSnapshots({ [`${day}/crypto.spot.ndjson`]: ndjson(rows) }, snapshots);
  const { release } = await compileFolder(snapshots, {
    data,
    asOf: `2026-11-20T${12 + at}:00:00Z`,
  });
  did = release.issuer_did;
}

beforeEach(async () => {
  snapshots = writeSnapshots({});
  data = join(makeFolder(), 'data');
  await hour(0, 3);
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
afterAll(removeFolders);

const proofText = (): string => readFileSync(join(data, 'current', RELEASE_PROOF_NAME), 'utf8');
const logLine = (): string => `log ${logOf().vkey}\n`;

function logOf() {
  const release = currentRelease(data);
  if (release === null) throw new Error('no release');
  return { release, vkey: release.read('log/vkey')?.toString().trim() ?? '' };
}

/** A witness that serves on its own port; its line of a policy. */
async function witness(
  name: string,
  now = () => NOW,
): Promise<{ line: string; store: WitnessStore }> {
  const folder = join(makeFolder(), name);
  makeWitness(folder, `${name.toLowerCase()}.example`);
  const store = openWitness(folder);
  const [vkey] = [logOf().vkey];
  const { logs } = readPolicy(Buffer.from(`log ${vkey}\nquorum none\n`));
  const keys = logs.map(({ key }) => key);
  const options = { store, logs: keys, host: '127.0.0.1', port: 0, now, log: () => undefined };
  const served: ServedWitness = await serveWitness(options);
  open.push(store, served);
  return { line: `witness ${name} ${store.key.vkey} http://127.0.0.1:${served.port}/\n`, store };
}

/** Something at an address that answers as it likes. */
async function liar(
  answer: (
    body: string,
  ) => { status: number; body: string; location?: string; retryAfter?: string } | null,
) {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const said = answer(body);
      if (said === null) return;
      const { location, retryAfter } = said;
      response.writeHead(said.status, {
        ...(location === undefined ? {} : { location }),
        ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
      });
      response.end(said.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const ask = (text: string, more: object = {}) =>
  askWitnesses(data, readPolicy(Buffer.from(text)), { ...by(), ...more });

/** Asks at one time; waits take none. */
function by(): AskBy & { readonly waits: readonly number[] } {
  const clock = new VirtualClock(NOW_TEXT);
  const { waits } = clock;
  return { fetch, now: () => NOW, steady: () => clock.ms, sleep: (ms) => clock.sleep(ms), waits };
}

async function verified(policy: string) {
  const options = {
    issuer: [did],
    now: NOW + 5 * 3_600_000,
    policy: readPolicy(Buffer.from(policy)),
  };
  const { exitCode, text } = await runVerify(data, options);
  return `${exitCode} ${text}`;
}

describe('askedLog()', () => {
  it('proves that the log goes on from each size that it had', async () => {
    await hour(1, 280);
    const { release } = logOf();
    const { leaf } = release;
    const log = askedLog(release);
    const bundles = tilesOf(log.signed.size - 1).filter(({ level }) => level === 'entries');
    const listed = bundles.flatMap((tile) =>
      decodeBundle(release.read(tilePath(tile)) ?? Buffer.alloc(0)),
    );
    const entries = [...listed, canonicalDigest(leaf?.head)];
    const levels = completeLevels(
      entries.map((entry) => leafHash(logEntry(entry), sha256)),
      sha256,
    );
    expect(entries.length).toBe(log.signed.size);
    expect(entries.length).toBeGreaterThan(280);
    for (let size1 = 1; size1 <= entries.length; size1 += 1) {
      const root1 = rangeHash({ start: 0, end: size1 }, levels, sha256);
      const proof = log.proofFrom(size1);
      const claim = { size1, size2: log.signed.size, root1, root2: log.signed.root, proof };
      expect([size1, verifyConsistency(claim, sha256)]).toEqual([size1, true]);
    }
  });

  it('refuses a release whose proof somebody else signed', () => {
    const { release } = logOf();
    const { leaf } = release;
    // The last byte of a signature is small, and often zero already.
    const other = (end: string): string => (end === 'AA=\n' ? 'BA=\n' : 'AA=\n');
    const proof = leaf?.proof.replace(/..=\n$/, other) ?? '';
    const forged = { ...release, leaf: leaf === null ? null : { ...leaf, proof } };
    expect(() => askedLog(forged)).toThrow('Cannot ask witnesses');
    expect(() => askedLog({ ...release, leaf: null })).toThrow('no place in a log');
  });
});

describe('askWitnesses()', () => {
  it('publishes the cosignatures of those that answer, and names those that do not', async () => {
    const [one, two, dead] = [await witness('One'), await witness('Two'), await liar(() => null)];
    const third = `witness Third ${new InventedWitness('t.example').vkey} ${dead}\n`;
    const policy = `${logLine()}${one.line}${two.line}${third}group Most 2 One Two Third\nquorum Most\n`;
    const before = parseTlogProof(proofText());
    const report = await ask(policy, { timeoutMs: 3000 });
    expect(askText(report)).toContain('  cosigned by One at 2026-11-20T12:30:00Z\n');
    expect(askText(report)).toContain(
      '  no cosignature of Third: no answer in time\nThe policy is met',
    );
    const { checkpoint, note, ...after } = parseTlogProof(proofText());
    expect(after).toEqual({ index: before.index, hashes: before.hashes, signed: before.signed });
    expect(checkpoint.startsWith(before.checkpoint)).toBe(true);
    expect(note.signatures).toHaveLength(3);
    expect(await verified(policy)).toMatch(/^0 [\s\S]*witnessed by One at 2026-11-20T12:30:00Z\n/);
  });

  it('asks nobody twice, and keeps what is there', async () => {
    const one = await witness('One');
    const policy = `${one.line}quorum One\n`;
    await ask(policy);
    const before = proofText();
    const asked: string[] = [];
    const report = await ask(policy, {
      fetch: (url: string) => {
        asked.push(url);
        throw new Error('asked again');
      },
    });
    expect([asked, report.lack]).toEqual([[], null]);
    const two = await witness('Two');
    await ask(`${two.line}quorum Two\n`);
    expect(proofText().startsWith(before)).toBe(true);
    expect(await verified(`${one.line}${two.line}group Both all One Two\nquorum Both\n`)).toMatch(
      /^0 /,
    );
  });

  it('goes on with each release, whatever a witness has seen of those before', async () => {
    const [one, two] = [await witness('One'), await witness('Two')];
    const both = `${one.line}${two.line}group Both all One Two\nquorum Both\n`;
    await ask(`${one.line}quorum One\n`);
    await hour(1, 40);
    expect((await ask(both)).lack).toBeNull();
    await hour(2, 1);
    await hour(3, 300);
    expect((await ask(both)).lack).toBeNull();
    expect(await verified(both)).toMatch(/^0 /);
    // What the next release lists follows from its snapshots alone, whoever cosigned the one before.
    const rows = logOf().release.read('log/batches/000000.txt')?.toString() ?? '';
    expect(rows.split('\n').length).toBeGreaterThan(4);
    expect(rows).not.toContain('one.example');
  });

  it.each([
    ['a cosignature of another tree', () => ({ status: 200, body: forged('7') }), 'does not hold'],
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
    const url = await liar(answer);
    const before = proofText();
    const text = `witness Liar ${LIAR.vkey} ${url}\nquorum Liar\n`;
    const report = await ask(text);
    expect(report.witnesses).toEqual([
      { name: 'Liar', at: null, failure: expect.stringContaining(why) },
    ]);
    expect(report.lack).toContain('no cosignature of Liar');
    expect(proofText()).toBe(before);
  });

  it('asks a busy witness again when it says, and gives up where that is too late', async () => {
    const busy = [429, 503];
    const one = await witness('One');
    const clock = by();
    const fetchBusy: AskBy['fetch'] = async (url, init) => {
      const status = busy.shift();
      if (status === undefined) return fetch(url, init);
      return new Response('busy', {
        status,
        headers: status === 429 ? { 'retry-after': '3' } : {},
      });
    };
    const report = await ask(`${one.line}quorum One\n`, { ...clock, fetch: fetchBusy });
    expect([report.lack, clock.waits]).toEqual([null, [3000, 1000]]);
    const asked: string[] = [];
    const url = await liar((body) => {
      asked.push(body);
      return { status: 429, body: 'busy\n', retryAfter: '11' };
    });
    const { witnesses } = await ask(`witness Liar ${LIAR.vkey} ${url}\nquorum none\n`);
    expect([asked.length, witnesses[0]?.failure]).toEqual([1, 'status 429: busy']);
    const always = await liar((body) => {
      asked.push(body);
      return { status: 429, body: 'busy\n', retryAfter: '0' };
    });
    await ask(`witness Liar ${LIAR.vkey} ${always}\nquorum none\n`);
    expect(asked).toHaveLength(4);
  });

  it('replaces what others wrote under the name of a witness, and asks nobody else again', async () => {
    const [one, two] = [await witness('One'), await witness('Two')];
    const policy = `${one.line}${two.line}group Both all One Two\nquorum Both\n`;
    await ask(policy);
    const sound = proofText();
    const lines = sound.split('\n');
    const at = lines.findIndex((line) => line.includes(' one.example '));
    const forgedLine = (lines[at] ?? '').replace(/.{8}$/, 'AAAAAAA=');
    for (let run = 0; run < 3; run += 1) {
      const forgedLines = lines.toSpliced(at, 1, forgedLine);
      writeFileSync(join(data, 'current', RELEASE_PROOF_NAME), forgedLines.join('\n'));
      expect(await verified(policy)).toContain('does not hold');
      const asked: string[] = [];
      const fetchSeen: AskBy['fetch'] = (url, init) => {
        asked.push(url);
        return fetch(url, init);
      };
      expect((await ask(policy, { fetch: fetchSeen })).lack).toBeNull();
      expect(asked.every((url) => one.line.includes(url.replace('add-checkpoint', '')))).toBe(true);
      expect(proofText().split('\n').sort()).toEqual([...lines].sort());
      expect(await verified(policy)).toMatch(/^0 /);
    }
  });

  it('keeps the newest line of a witness that holds', async () => {
    const [older, newer] = [new InventedWitness('w.example', 7), await witness('One')];
    const { index, hashes, checkpoint } = parseTlogProof(proofText());
    const twice = older.cosign(
      older.cosign(checkpoint, '2026-11-20T12:10:00Z'),
      '2026-11-20T12:20:00Z',
    );
    const path = join(data, 'current', RELEASE_PROOF_NAME);
    writeFileSync(path, formatTlogProof({ index, hashes, checkpoint: twice }));
    const text = `witness W ${older.vkey}\n${newer.line}quorum none\n`;
    const { witnesses } = await ask(text);
    expect(witnesses[0]?.at).toBe('2026-11-20T12:20:00Z');
    const { note } = parseTlogProof(proofText());
    expect(note.signatures.map(({ name }) => name)).toEqual([
      note.text.split('\n')[0],
      'w.example',
      'one.example',
    ]);
    expect(proofText()).toContain(
      older.cosign(checkpoint, '2026-11-20T12:20:00Z').slice(checkpoint.length),
    );
  });

  it('loses no line where several ask at once', async () => {
    const names = ['One', 'Two', 'Three', 'Four'];
    const all = await Promise.all(names.map((name) => witness(name)));
    const reports = await Promise.all(
      all.map(({ line }, at) => ask(`${line}quorum ${names[at]}\n`)),
    );
    expect(reports.map(({ lack }) => lack)).toEqual([null, null, null, null]);
    expect(parseTlogProof(proofText()).note.signatures).toHaveLength(5);
    expect(existsSync(join(data, '.cosigning'))).toBe(false);
  });

  it('waits for whoever adds lines now, and says who does not end', async () => {
    const one = await witness('One');
    const unlock = lockData(data, '.cosigning');
    const clock = by();
    const waiting = ask(`${one.line}quorum One\n`, {
      sleep: async (ms: number) => {
        await clock.sleep(ms);
        if (clock.waits.length === 3) unlock();
      },
    });
    expect((await waiting).lack).toBeNull();
    expect(clock.waits).toEqual([100, 100, 100]);
    const again = lockData(data, '.cosigning');
    const two = await witness('Two');
    await expect(ask(`${two.line}quorum Two\n`)).rejects.toThrow(`process ${process.pid}`);
    again();
  });

  it('takes no cosignature of a clock that is wrong', async () => {
    const [early, late] = [
      await witness('Early', () => NOW - 2 * 3_600_000),
      await witness('Late', () => NOW + 2 * 3_600_000),
    ];
    const { witnesses } = await ask(`${early.line}${late.line}quorum none\n`);
    expect(witnesses.map(({ failure }) => failure)).toEqual([
      'its clock says 2026-11-20T10:30:00Z',
      'its clock says 2026-11-20T14:30:00Z',
    ]);
  });

  it('says who cannot be asked', async () => {
    const { vkey } = LIAR;
    const { witnesses } = await ask(
      `witness A ${vkey}\nwitness B ${new InventedWitness('b', 2).vkey} ftp://x.example\nquorum none\n`,
    );
    expect(witnesses.map(({ failure }) => failure)).toEqual([
      'the policy does not say where it is asked',
      '"ftp://x.example" is not an http address',
    ]);
    await expect(
      askWitnesses(makeFolder(), readPolicy(Buffer.from('quorum none\n')), by()),
    ).rejects.toThrow('no release in');
  });

  it('leaves the old proof where it is killed before the new one takes its place', async () => {
    const one = await witness('One');
    const before = proofText();
    // What a kill leaves: the draft, beside the releases.
    writeFileSync(join(data, `${RELEASE_PROOF_NAME}.new`), before.slice(0, 40));
    expect(await verified('quorum none\n')).toMatch(/^0 /);
    await ask(`${one.line}quorum One\n`);
    expect(existsSync(join(data, `${RELEASE_PROOF_NAME}.new`))).toBe(false);
    expect(await verified(`${one.line}quorum One\n`)).toMatch(/^0 /);
    mkdirSync(join(data, `${RELEASE_PROOF_NAME}.new`));
    const two = await witness('Two');
    const kept = proofText();
    await expect(ask(`${two.line}quorum Two\n`)).rejects.toThrow();
    expect(proofText()).toBe(kept);
  });
});

describe('addWitness()', () => {
  const policyOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

  it('names a witness in a policy once it cosigned, and no other', async () => {
    const file = join(makeFolder(), 'witnesses.txt');
    const [one, two] = [await witness('One'), await witness('Two')];
    const [first, second] = [one, two].map(({ line }) => {
      const [, , vkey = '', url = ''] = line.trim().split(' ');
      return { data, file, vkey, url };
    });
    if (!first || !second) throw new Error('no witnesses');
    expect((await addWitness(first, by())).lack).toBeNull();
    const text = `witness one.example ${first.vkey} ${first.url}\nquorum none\n`;
    expect(policyOf(file)).toBe(text);
    const strange = { ...second, vkey: new InventedWitness('two.example', 5).vkey };
    expect((await addWitness(strange, by())).lack).toContain('no cosignature of two.example');
    const gone = { ...second, url: await liar(() => ({ status: 404, body: 'what log?\n' })) };
    expect((await addWitness(gone, by())).lack).not.toBeNull();
    expect(policyOf(file)).toBe(text);
    // It stands above the group that may name it, and what the file said stays.
    const grouped = `# ours\nwitness W ${first.vkey} ${first.url}\ngroup G any W\nquorum G\n`;
    writeFileSync(file, grouped);
    expect((await addWitness(second, by())).lack).toBeNull();
    expect(policyOf(file)).toBe(
      grouped.replace('group', `witness two.example ${second.vkey} ${second.url}\ngroup`),
    );
    await expect(addWitness(second, by())).rejects.toThrow('stands in an earlier line');
    await expect(addWitness({ ...second, vkey: 'me' }, by())).rejects.toThrow(
      'Cannot add the witness',
    );
    expect(parseTlogProof(proofText()).note.signatures).toHaveLength(3);
  });
});

/** More than the calls that put a proof in its place. */
const STEPS = 10;

describe('signalpress witness ask, killed at any step (needs a build)', () => {
  it('leaves the old proof or the new one', async () => {
    // The program has a clock of its own.
    const one = await witness('One', () => Date.now());
    const policy = `${logLine()}${one.line}quorum One\n`;
    const file = join(data, '..', 'policy.txt');
    writeFileSync(file, policy);
    const before = proofText();
    const options = killerOptions(join(data, '..'));
    const args = [
      built('compiler/signalpress.js'),
      'witness',
      'ask',
      '--policy',
      file,
      '--data',
      data,
    ];
    const ends: string[] = [];
    for (let at = 0; at < STEPS; at += 1) {
      writeFileSync(join(data, 'current', RELEASE_PROOF_NAME), before);
      const env = { KILL_AT: String(at), KILL_FROM: `${RELEASE_PROOF_NAME}.new` };
      const child = spawn(process.execPath, [...options, ...args], { env, stdio: 'ignore' });
      const code = await new Promise((resolve) => child.on('exit', resolve));
      const isNew = proofText() !== before;
      if (isNew) expect(proofText().slice(before.length)).toMatch(/^\u2014 one\.example \S+\n$/);
      expect(proofText().startsWith(before)).toBe(true);
      const { exitCode } = await runVerify(data, { issuer: [did] });
      expect([at, exitCode]).toEqual([at, 0]);
      ends.push(`${code ?? 'killed'} ${isNew ? 'new' : 'old'}`);
    }
    expect(new Set(ends)).toEqual(new Set(['killed old', 'killed new', '0 new']));
    expect(ends.at(-1)).toBe('0 new');
  }, 120_000);
});

const LIAR = new InventedWitness('liar.example', 4);

/** A cosignature of the liar on a tree of another size. */
function forged(size: string): string {
  const note = parseTlogProof(proofText()).checkpoint.replace(/\n\d+\n/, `\n${size}\n`);
  return LIAR.cosign(note, '2026-11-20T12:30:00Z').slice(note.length);
}

function sizes(): () => { status: number; body: string } {
  let size = 0;
  return () => {
    size += 1;
    return { status: 409, body: `${size}\n` };
  };
}
