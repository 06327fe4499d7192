import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { citedTarget } from '../../compiler/format/citation.ts';
import { defined } from '../../compiler/format/errors.ts';
import { CHECKPOINT_PATH, TILE_WIDTH, tilePath, tilesOf } from '../../compiler/format/tiles.ts';
import { calendarClient } from '../../compiler/publish/anchor/ots-calendar.ts';
import { blockHeader, stampRoot, upgradeRoots } from '../../compiler/publish/anchor/upgrade.ts';
import { anchorStore } from '../../compiler/publish/log/anchor-store.ts';
import { askWitnesses } from '../../compiler/publish/witness/ask-witnesses.ts';
import { openLog } from '../../compiler/release/log-folder.ts';
import { hexOf } from '../../compiler/release/log-tree.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate } from '../gate.ts';
import { tinyEntries, writeTinyLog } from '../gatekeeper/tiny-log.ts';
import { tinyKey } from '../gatekeeper/tiny-release.ts';
import {
  type LoopbackCalendar,
  loopbackCalendar,
  TEST_HEIGHT,
  TEST_LIMIT,
} from '../publish/anchor/loopback-calendar.ts';
import { InventedLog } from '../publish/witness/invented-log.ts';
import { StubWitness } from '../publish/witness/stub-witness.ts';
import {
  AS_OF,
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';

/** Programs that know nothing of this project read its log and its time stamps. */
const READERS = join(import.meta.dirname, 'log-readers');
/** Where Debian puts the sources of Go packages. */
const GO_PATH = '/usr/share/gocode';
const HAS_GO =
  existsSync(`${GO_PATH}/src/golang.org/x/mod/sumdb/tlog`) &&
  spawnSync('go', ['version']).status === 0;
/** The one of the system knows its packages, whichever comes first in the PATH. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import opentimestamps, bitcoin.core']).status === 0,
);

afterAll(removeFolders);

interface Said {
  readonly code: number | null;
  readonly text: string;
}

function said(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Said {
  const { status: code, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  return { code, text: `${stdout}${stderr}` };
}

/** What a gatekeeper serves of a cosigned log, and a proof that it sells. */
interface ServedLog {
  readonly folder: string;
  readonly vkey: string;
  readonly witness: string;
  readonly size: number;
  readonly older: number;
}

describe.skipIf(!HAS_GO)('golang.org/x/mod (needs go and golang-golang-x-mod-dev)', () => {
  let program: string;
  let log: ServedLog;
  let gate: Gatekeeper;
  beforeAll(async () => {
    program = join(makeFolder(), 'read-log');
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: GO_PATH, GOFLAGS: '' };
    const built = said('go', ['build', '-o', program, join(READERS, 'read_log.go')], env);
    expect(built).toEqual({ code: 0, text: '' });
    ({ log, gate } = await servedLog());
  });
  afterAll(() => gate?.close());

  const read = ({ folder, vkey, witness }: Pick<ServedLog, 'folder' | 'vkey' | 'witness'>): Said =>
    said(program, [folder, vkey, witness]);

  it('proves every entry of a served log, its growth, a body, and a cosignature', () => {
    expect(read(log)).toEqual({
      code: 0,
      text: expect.stringMatching(
        `^${log.size} of ${log.size} entries proven; grown from ${log.older}; entry ${log.size - 1} and statement \\d+ of \\d+ by a tlog-proof\n$`,
      ),
    });
  });

  interface Lie {
    readonly what: string;
    readonly path: string;
    readonly change: (bytes: Buffer) => Buffer | string;
    readonly words: RegExp;
  }
  const text = (change: (text: string) => string) => (bytes: Buffer) => change(bytes.toString());
  const LIES: readonly Lie[] = [
    {
      what: 'a hash of a tile',
      path: 'tile/0/000',
      change: (bytes) => flipped(bytes, 40),
      words: /inconsistent|invalid/,
    },
    {
      what: 'an entry',
      path: 'tile/entries/000',
      change: (bytes) => flipped(bytes, 80),
      words: /entry 0: invalid transparency proof/,
    },
    {
      what: 'the signature of the log',
      path: 'checkpoint',
      change: text((note) => altered(note, 'example.org/log')),
      words: /invalid signature/,
    },
    {
      what: 'the cosignature',
      path: 'checkpoint',
      change: text((note) => altered(note, 'w.example')),
      words: /invalid signature/,
    },
    {
      what: 'a checkpoint without the witness',
      path: 'checkpoint',
      change: text((note) => note.replace(/\u2014 w\.example .*\n/, '')),
      words: /1 of 2 keys signed/,
    },
    {
      what: 'an older tree that was another',
      path: 'older',
      change: text(forked),
      words: /invalid transparency proof/,
    },
    {
      what: 'a hash of the proof',
      path: 'proof',
      change: text((proof) => proof.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`)),
      words: /entry of the proof: invalid transparency proof/,
    },
    {
      what: 'the entry of the proof',
      path: 'proof',
      change: text((proof) => changedExtra(proof, (extra) => extra.indexOf('as_of') + 12)),
      words: /entry of the proof: invalid transparency proof/,
    },
    {
      what: 'the path of the statement',
      path: 'proof',
      change: text((proof) => changedExtra(proof, (extra) => extra.length - 1)),
      words: /statement: invalid transparency proof/,
    },
    {
      what: 'the statement',
      path: 'statement',
      change: (bytes) => flipped(bytes, 10),
      words: /statement: invalid transparency proof/,
    },
  ];

  it.each(LIES)('refuses $what', ({ path, change, words }) => {
    const folder = join(makeFolder(), 'altered');
    cpSync(log.folder, folder, { recursive: true });
    const file = join(folder, path);
    const before = readFileSync(file);
    const after = Buffer.from(change(before));
    expect(after.equals(before)).toBe(false);
    writeFileSync(file, after);
    expect(read({ ...log, folder })).toEqual({ code: 1, text: expect.stringMatching(words) });
  });

  it('refuses the keys of others', () => {
    const strange = new InventedLog({ origin: 'example.org/log', seed: 8 });
    const vkey = strange.policyLine.trim().slice('log '.length);
    expect(read({ ...log, vkey })).toMatchObject({ code: 1 });
    const { vkey: witness } = new StubWitness({ name: 'other.example', logs: [], now: () => 0 });
    expect(read({ ...log, witness })).toEqual({ code: 1, text: '1 of 2 keys signed\n' });
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const other = Buffer.from(bytes);
  other.writeUInt8(other.readUInt8(at) ^ 1, at);
  return other;
}

/** The proof with one byte of its `extra` changed. */
function changedExtra(proof: string, at: (extra: Buffer) => number): string {
  return proof.replace(/(?<=\nextra )\S+/, (text) => {
    const extra = Buffer.from(text, 'base64');
    return flipped(extra, at(extra)).toString('base64');
  });
}

/** The note with another signature by this name, of the same length. */
function altered(note: string, name: string): string {
  const line = new RegExp(`(?<=\u2014 ${name} .{30}).`);
  return note.replace(line, (char) => (char === 'A' ? 'B' : 'A'));
}

/** A checkpoint of the same log and size that the same key signed over other entries. */
function forked(note: string): string {
  const size = Number(note.split('\n')[1]);
  return new InventedLog({ origin: 'example.org/log', seed: 7 }).note(size);
}

/** A log that three compiles carried over its first full tile, behind entries of releases that are lost. */
async function servedLog(): Promise<{ log: ServedLog; gate: Gatekeeper }> {
  const snapshots = writeSnapshots(spotPrices('2026-11-18', 20, 90_000));
  const data = join(makeFolder(), 'data');
  const lost = { as_of: '2026-11-18T12:00:00Z', head: `sha256:${'ab'.repeat(32)}` };
  const entries = tinyEntries(Array(TILE_WIDTH - 2).fill([]), lost);
  writeTinyLog(data, entries, { taken: [], baseUrl: 'https://example.org', signer: tinyKey(7) });
  await compileFolder(snapshots, { data, asOf: '2026-11-19T12:00:00Z' });
  const older = readFileSync(join(data, CHECKPOINT_PATH), 'utf8');
  writeSnapshots(spotPrices('2026-11-19', 20, 90_000), snapshots);
  for (const asOf of ['2026-11-20T10:00:00Z', AS_OF])
    await compileFolder(snapshots, { data, asOf });
  const witness = await cosigned(data);
  const gate = await sampleGate(data);
  const folder = join(makeFolder(), 'log');
  await saved(gate, '/log/checkpoint', join(folder, 'checkpoint'));
  writeFileSync(join(folder, 'older'), older);
  const sample = await (await fetch(`${gate.url}/gauge/sample`)).text();
  const { _citation: citation, _proof: proof } = JSON.parse(sample).sample;
  writeFileSync(join(folder, 'proof'), proof);
  const statement = canonicalJson([citedTarget(citation), citation.record_hash]);
  writeFileSync(join(folder, 'statement'), statement);
  const size = TILE_WIDTH + 1;
  for (const path of tilesOf(size).map(tilePath)) {
    await saved(gate, `/${path}`, join(folder, path.slice('log/'.length)));
  }
  const vkey = (await (await fetch(`${gate.url}/log/vkey`)).text()).trim();
  return { log: { folder, vkey, witness, size, older: size - 2 }, gate };
}

async function saved(gate: Gatekeeper, path: string, file: string): Promise<void> {
  const response = await fetch(`${gate.url}${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  const bytes = Buffer.from(await response.arrayBuffer());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

/** Has a witness cosign the current release; answers its key. */
async function cosigned(data: string): Promise<string> {
  const log = new InventedLog({ origin: 'example.org/log', seed: 7 });
  const now = () => Date.parse('2026-11-20T12:00:00Z');
  const witness = new StubWitness({ name: 'w.example', logs: [log.key], now });
  const served = await witness.serve();
  const { vkey } = witness;
  const text = `witness W ${vkey} http://127.0.0.1:${served.port}\nquorum W\n`;
  const by = { fetch, now, steady: now, sleep: async () => undefined };
  const { lack } = await askWitnesses(data, readPolicy(Buffer.from(text)), by);
  await served.close();
  expect(lack).toBeNull();
  return vkey;
}

describe.skipIf(PYTHON === undefined)(
  'opentimestamps of Python (needs python3-opentimestamps)',
  () => {
    const folder = makeFolder();
    const file = join(folder, 'proof.ots');
    const read = (...args: string[]): Said =>
      said(PYTHON ?? '', [join(READERS, 'read_anchor.py'), ...args]);
    let calendar: LoopbackCalendar;
    let data: string;
    let root: string;
    let header: string;
    beforeAll(async () => {
      calendar = await loopbackCalendar();
      ({ data } = await compileFolder(writeSnapshots(spotPrices('2026-11-18', 3, 90_000))));
      root = hexOf(defined(openLog(data), 'the log').signed.root);
    });
    afterAll(() => calendar.close());
    const parts = () => ({
      anchors: anchorStore(data),
      client: calendarClient(5000),
      calendars: [calendar.url],
    });

    const save = (): void =>
      writeFileSync(file, defined(anchorStore(data).read(root)?.proof, 'a proof'));

    it('reads the promise of a calendar', async () => {
      await stampRoot({ ...parts(), root, now: '2026-11-20T12:00:00Z' });
      save();
      expect(read(file, root)).toEqual({ code: 0, text: `pending ${calendar.url}\n` });
    });

    it('verifies the proof up to the header of a block, and refuses another one', async () => {
      const [mined = new Uint8Array(0)] = calendar.mine();
      header = Buffer.from(mined).toString('hex');
      await upgradeRoots({ ...parts(), headers: [blockHeader(mined, TEST_LIMIT)] });
      save();
      expect(read(file, root, header)).toEqual({
        code: 0,
        text: expect.stringContaining(`bitcoin ${TEST_HEIGHT}\n`),
      });
      const other = flipped(Buffer.from(mined), 40).toString('hex');
      expect(read(file, root, other)).toMatchObject({
        code: 1,
        text: expect.stringContaining('VerificationError'),
      });
      expect(read(file, 'ab'.repeat(32), header)).toMatchObject({
        code: 1,
        text: expect.stringContaining('another digest'),
      });
    });

    it('says something else, or nothing, of a proof of which any byte is another', () => {
      const bytes = readFileSync(file);
      const genuine = read(file, root, header);
      expect(genuine.code).toBe(0);
      const altered = join(folder, 'altered.ots');
      const accepted: number[] = [];
      for (let at = 0; at < bytes.length; at += 7) {
        writeFileSync(altered, flipped(bytes, at));
        if (read(altered, root, header).text === genuine.text) accepted.push(at);
      }
      expect(accepted).toEqual([]);
    });
  },
);
