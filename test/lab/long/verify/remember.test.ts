import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seenKey } from '../../../../compiler/format/key-history.ts';
import { CONTRACT_VERSION, parseFiles, RELEASE_NAME } from '../../../../compiler/format/release.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { type Disk, nodeDisk } from '../../../../compiler/system/disk.ts';
import { issuerDid, signingKey } from '../../../../compiler/system/sealer.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { headHash, readHeadOf, resign } from '../../../verify/resign.ts';

afterAll(removeFolders);

const SEQUENCE_JUMP_MAX = 1_000_000;
const NOW = Date.parse('2026-11-25T12:00:00Z');
const OTHER_SEED = new Uint8Array(32).fill(9);
const OTHER_DID = issuerDid(signingKey(OTHER_SEED));
const ROOT_SEEN = { version: 1, hash: `sha256:${'0'.repeat(64)}` };
const batch = (day: string, price: number) => spotPrices(`2026-11-${day}`, 1, price);

/** Three releases after one another, each with one more reading, all kept. */
let data = '';
/** The log as it was with each of them. */
let logs = '';
const keepLog = (sequence: number): void =>
  cpSync(join(data, 'log'), join(logs, `${sequence}`), { recursive: true });
let did = '';
/** What a reader of the first and of the second release remembers. */
let first = '';
let second = '';
beforeAll(async () => {
  const snapshots = writeSnapshots(batch('20', 100));
  const made = await compileFolder(snapshots, { asOf: '2026-11-20T12:00:00Z' });
  [data, did] = [made.data, made.release.issuer_did];
  logs = makeFolder();
  keepLog(1);
  first = (await follow(data, null)).saved ?? '';
  writeSnapshots(batch('21', 101), snapshots);
  await compileFolder(snapshots, { data, asOf: '2026-11-21T12:00:00Z' });
  keepLog(2);
  second = (await follow(data, first)).saved ?? '';
  writeSnapshots(batch('22', 102), snapshots);
  await compileFolder(snapshots, { data, asOf: '2026-11-22T12:00:00Z' });
  keepLog(3);
});

interface Followed {
  readonly exitCode: number;
  readonly text: string;
  readonly saved: string | null;
}

/** `verify --remember` with a file that holds this text. */
async function follow(folder: string, text: string | null, now = NOW): Promise<Followed> {
  let saved: string | null = null;
  const memory = {
    text,
    save(next: string): void {
      saved = next;
    },
  };
  const outcome = await runVerify(folder, { issuer: did === '' ? [] : [did], memory, now });
  return { ...outcome, saved };
}

const nameOf = (root: string, sequence: number): string =>
  readdirSync(join(root, 'releases')).find((name) => name.startsWith(`00000${sequence}`)) ?? '';
const rootOf = (folder: string, sequence: number): string =>
  join(folder, 'releases', nameOf(folder, sequence));

/** A copy in which `current` is this release, with no newer one beside it and the log of then. */
function serving(sequence: number): string {
  const copy = join(makeFolder(), 'data');
  cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
  for (let newer = sequence + 1; newer <= 3; newer += 1) {
    rmSync(rootOf(copy, newer), { recursive: true, force: true });
  }
  rmSync(join(copy, 'log'), { recursive: true });
  cpSync(join(logs, `${sequence}`), join(copy, 'log'), { recursive: true });
  rmSync(join(copy, 'current'));
  symlinkSync(`releases/${nameOf(copy, sequence)}`, join(copy, 'current'));
  return copy;
}

/** A copy of the third release with its head changed and signed again. */
function changed(change: Parameters<typeof resign>[1], seed?: Uint8Array): string {
  const copy = serving(3);
  resign(rootOf(copy, 3), change, seed);
  return copy;
}

/** A copy of the third release with the bytes of a file changed, head and list as they were. */
function harmed(path: string, change: (text: string) => string): string {
  const copy = serving(3);
  const root = rootOf(copy, 3);
  const listed = parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
  const entry = listed.find((each) => each.path === path);
  const full = entry === undefined ? join(root, path) : join(copy, storedPath(path, entry.sha256));
  writeFileSync(full, change(readFileSync(full, 'utf8')));
  return copy;
}

const remembering = (text: string, change: object): string => {
  const memory = JSON.parse(text) as { issuers: Record<string, object> };
  memory.issuers[did] = { ...memory.issuers[did], ...change };
  return JSON.stringify(memory);
};
const without = (sequence: number): string => {
  const copy = serving(3);
  rmSync(rootOf(copy, sequence), { recursive: true });
  return copy;
};

describe('I26: verify --remember on an honest publication', () => {
  it.each<[string, () => string, () => string | null]>([
    ['the first look', () => serving(1), () => null],
    ['the same release again', () => serving(1), () => first],
    ['the next release', () => serving(2), () => first],
    ['two releases later, all kept', () => serving(3), () => first],
    ['two releases later, the one between removed', () => without(2), () => first],
    ['the one that was seen removed', () => without(1), () => first],
    [
      'a promise that still holds',
      () => changed({ valid_until: '2026-11-26T00:00:00Z' }),
      () => second,
    ],
  ])('I26: goes on after %s', async (_, folder, memory) => {
    const { exitCode, text, saved } = await follow(folder(), memory());
    expect([exitCode, text]).toEqual([0, expect.stringMatching(/^verified/)]);
    expect(JSON.parse(saved ?? '{}')).toMatchObject({
      issuers: { [did]: { as_of: expect.any(String) } },
    });
  });

  it('I26: remembers sequence, hash of the head, and the signed size and root of the log', () => {
    const { issuers } = JSON.parse(second) as { issuers: Record<string, Record<string, string>> };
    const head = readHeadOf(rootOf(data, 2));
    expect(issuers[did]).toMatchObject({ sequence: 2, head: headHash(head) });
    expect(issuers[did]?.checkpoint).toMatch(/^example\.org\S*\n\d+\n[A-Za-z0-9+/=]{44}\n/);
  });

  it('I26: keeps other issuers apart', async () => {
    const other = JSON.parse(second) as { issuers: Record<string, object> };
    const stranger = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const keys = seenKey(stranger);
    const memory = { ...other, issuers: { [stranger]: { ...other.issuers[did], keys } } };
    const { saved } = await follow(serving(1), JSON.stringify(memory));
    expect(Object.keys((JSON.parse(saved ?? '{}') as typeof other).issuers).sort()).toEqual(
      [did, stranger].sort(),
    );
  });
});

describe('I26: verify --remember notices', () => {
  const forged = 'A'.repeat(86);

  it.each<[string, () => string, () => string, RegExp]>([
    ['a rollback', () => serving(1), () => second, /release.json {2}sequence {2}rollback: 1/],
    [
      'a rollback by one',
      () => serving(2),
      () => remembering(second, { sequence: 3 }),
      /rollback: 2/,
    ],
    [
      'time that goes back',
      () => changed({ as_of: '2026-11-20T13:00:00Z' }),
      () => second,
      /as_of {2}rollback/,
    ],
    [
      'a fork at the same number',
      () => serving(2),
      () => remembering(second, { head: `sha256:${'0'.repeat(64)}` }),
      /fork: another release 2/,
    ],
    [
      'a fork at the next number',
      () => changed({ previous: `sha256:${'0'.repeat(64)}` }),
      () => second,
      /previous {2}fork/,
    ],
    [
      'a fork further back',
      () => serving(3),
      () => remembering(first, { head: `sha256:${'0'.repeat(64)}` }),
      /fork: does not follow the release 1/,
    ],
    [
      'a fast-forward',
      () => changed({ sequence: SEQUENCE_JUMP_MAX + 3 }),
      () => second,
      /fast-forward/,
    ],
    [
      'the largest number',
      () => changed({ sequence: Number.MAX_SAFE_INTEGER }),
      () => second,
      /fast-forward/,
    ],
    [
      'a log that shrank',
      () => serving(2),
      () => remembering(first, { checkpoint: noteOf(3) }),
      /seen before {2}size/,
    ],
    [
      'a log that forked',
      () => changed({ valid_until: '2026-11-26T00:00:00Z' }),
      () => remembering(second, { checkpoint: noteOf(3) }),
      /seen before {2}root/,
    ],
    ['a release of before with the log of later ones', behind, () => first, /ends with release 3/],
    [
      'a log that is gone',
      () => serving(3),
      () => remembering(second, { checkpoint: 'x\n' }),
      /seen before {2}not the signed note/,
    ],
    [
      'a list of keys without the root that was seen',
      () => serving(3),
      () => remembering(second, { keys: { dids: [did], root: ROOT_SEEN } }),
      /rollback: its list of keys lacks version 1 of the root/,
    ],
    [
      'a list of keys that begins with another key',
      () => serving(3),
      () => remembering(second, { keys: { dids: [OTHER_DID, did], root: null } }),
      /rollback: its list of keys does not begin with/,
    ],
    [
      'a list of keys without a statement that was seen',
      () => serving(3),
      () => remembering(second, { keys: { ...seenKey(did), statements: [ROOT_SEEN.hash] } }),
      /rollback: its list of keys lacks a statement that was seen before/,
    ],
    ['an older list under a newer head', () => mixed('files.txt'), () => second, /files_sha256/],
    [
      'a newer list under an older head',
      () => mixed('release.json'),
      () => second,
      /sequence|files_sha256/,
    ],
    [
      'another list, signed again, of files that are not there',
      () => listing((text) => text.replace(/[0-9a-f]{64}/, 'a'.repeat(64))),
      () => second,
      /listed in files.txt, but missing/,
    ],
    [
      'endless data',
      () => harmed('index/catalog.txt', (text) => text.repeat(1000)),
      () => second,
      /catalog.txt {2}size/,
    ],
    [
      'an endless head',
      () => harmed('release.json', (text) => text + ' '.repeat(100_000)),
      () => second,
      /release.json/,
    ],
    [
      'an endless list',
      () => harmed('files.txt', (text) => text + 'a'.repeat(5_000_000)),
      () => second,
      /too long for its count/,
    ],
    [
      'a wrong size in the list',
      () => listing((text) => text.replace(/ (\d+) index/, ' 1$1 index')),
      () => second,
      /index\/catalog.txt {2}size/,
    ],
    [
      'a wrong hash in the list',
      () =>
        listing((text) =>
          text.replace(/[0-9a-f](?=[0-9a-f]{8} \d+ index\/catalog)/, (digit) =>
            digit === '0' ? '1' : '0',
          ),
        ),
      () => second,
      /catalog.txt {2}sha256/,
    ],
    [
      'hashes in upper case',
      () => listing((text) => text.toUpperCase()),
      () => second,
      /files.txt/,
    ],
    [
      'a path out of the release',
      () => listing((text) => text.replace('index/catalog.txt', 'index/../../x')),
      () => second,
      /files.txt/,
    ],
    [
      'a path twice',
      () => listing((text) => text.replace(/^(.*\n)/, '$1$1')),
      () => second,
      /files.txt/,
    ],
    [
      'a forged signature',
      () =>
        harmed('release.json', (text) =>
          text.replace(/"signature": "[^"]+"/, `"signature": "${forged}"`),
        ),
      () => second,
      /release.json {2}signature/,
    ],
    [
      'no signature',
      () => harmed('release.json', (text) => text.replace(/,\s*"signature": "[^"]+"/, '')),
      () => second,
      /release.json {2}signature/,
    ],
    [
      'a signature spelled otherwise',
      () =>
        harmed('release.json', (text) =>
          text.replace(/"signature": "([^"]+)"/, '"signature": "$1=="'),
        ),
      () => second,
      /signature/,
    ],
    ['another key', () => changed({}, OTHER_SEED), () => second, /not one of the trusted issuers/],
    [
      'another key under the old name',
      () => changed({ issuer_did: did }, OTHER_SEED),
      () => second,
      /release.json {2}(signature|key_id)/,
    ],
    [
      'a key of another kind',
      () => changed({ issuer_did: 'did:web:example.org' }),
      () => second,
      /issuer_did/,
    ],
    [
      'a member too many',
      () => harmed('release.json', (text) => text.replace('{', '{\n  "extra": 1,')),
      () => second,
      /release.json/,
    ],
    [
      'a format of another version',
      () => changed({ format: 'signalpress-release/2' as never }),
      () => second,
      /format/,
    ],
    [
      'a contract of another version',
      () => changed({ contract_version: 99 }),
      () => second,
      /contract_version/,
    ],
    [
      'a count of files that differs',
      () => changed({ files_count: 5000 }),
      () => second,
      /files_count/,
    ],
    [
      'a member twice',
      () => harmed('release.json', (text) => text.replace('{', '{\n  "sequence": 9,')),
      () => second,
      /release.json/,
    ],
    [
      'a head that is no JSON',
      () => harmed('release.json', () => '{'),
      () => second,
      /release.json/,
    ],
    ['time beyond a day', beyond, () => second, /as_of/],
  ])('I26: %s', async (...[, folder, memory, says]) => {
    const { exitCode, text, saved } = await follow(folder(), memory());
    expect(text).toMatch(says);
    expect([exitCode, saved]).toEqual([1, null]);
  });

  it('I26: a release past its time is stale also to a reader who remembers nothing, exit 2', async () => {
    const frozen = changed({ valid_until: '2026-11-25T11:59:59Z' });
    const trusted = { issuer: [did] };
    expect(await runVerify(frozen, { ...trusted, now: NOW })).toMatchObject({ exitCode: 2 });
    const before = Date.parse('2026-11-25T11:59:58Z');
    expect(await runVerify(frozen, { ...trusted, now: before })).toMatchObject({ exitCode: 0 });
    // A clock that is behind says nothing of what it did not see.
    const early = Date.parse('2026-11-01T00:00:00Z');
    expect(await runVerify(serving(3), { ...trusted, now: early })).toMatchObject({ exitCode: 0 });
  });

  it('remembers nothing of a body', async () => {
    const { exitCode, saved } = await follow(join(serving(3), 'current/release.json'), null);
    expect([exitCode, saved]).toEqual([2, null]);
  });

  it.each<[string, () => string, () => string, RegExp]>([
    [
      'a freeze',
      () => changed({ valid_until: '2026-11-25T11:59:59Z' }),
      () => second,
      /stale: valid until 2026-11-25/,
    ],
    [
      'a time that is still to come',
      () => changed({ as_of: '2026-11-25T12:06:00Z' }),
      () => second,
      /still to come/,
    ],
    ['a memory that is no JSON', () => serving(3), () => '{', /cannot be judged/],
    [
      'a memory of another format',
      () => serving(3),
      () => '{"format":"x","issuers":{}}',
      /not written by verify/,
    ],
    ['an empty memory file', () => serving(3), () => '', /cannot be judged/],
  ])('I26: %s, exit 2', async (...[, folder, memory, says]) => {
    const { exitCode, text, saved } = await follow(folder(), memory());
    expect(text).toMatch(says);
    expect([exitCode, saved]).toEqual([2, null]);
  });

  it('I26: nothing of the past without --remember', async () => {
    const frozen = changed({ valid_until: '2026-11-25T11:59:59Z' });
    expect(await runVerify(frozen, { issuer: [did] })).toMatchObject({ exitCode: 0 });
  });
});

/** The signed note of the log with a release. */
function noteOf(sequence: number): string {
  return readFileSync(join(logs, `${sequence}`, 'checkpoint'), 'utf8');
}

/** The first release, served with the log of the third. */
function behind(): string {
  const copy = serving(1);
  rmSync(join(copy, 'log'), { recursive: true });
  cpSync(join(logs, '3'), join(copy, 'log'), { recursive: true });
  return copy;
}

/** The third release, signed for a day that no month has; no log takes an entry of it. */
function beyond(): string {
  const copy = serving(3);
  rmSync(join(copy, 'log'), { recursive: true });
  resign(rootOf(copy, 3), { as_of: '2026-11-32T12:00:00Z' });
  return copy;
}

/** The third release with one of its two own files taken from the second. */
function mixed(name: string): string {
  const copy = serving(3);
  cpSync(join(rootOf(copy, 2), name), join(rootOf(copy, 3), name));
  return copy;
}

/** The third release with another list, signed again. */
function listing(change: (text: string) => string): string {
  const copy = serving(3);
  const file = join(rootOf(copy, 3), 'files.txt');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  resign(rootOf(copy, 3), {});
  return copy;
}

describe('release chain', () => {
  let data: string;
  let older: string;
  let snapshots: string;
  beforeEach(async () => {
    snapshots = writeSnapshots({
      '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 90_123.5 })]),
    });
    const first = await compileFolder(snapshots);
    data = first.data;
    older = first.folder;
    await compileFolder(snapshots, { data, asOf: '2026-11-21T12:00:00Z' });
  });

  async function faultsOf(disk: Disk = nodeDisk): Promise<readonly string[]> {
    const { faults } = await verifyRelease(data, { trust: 'any', disk });
    return faults.map(({ file, detail }) => `${file} ${detail}`);
  }

  /** The release between the first and the newest. */
  function secondOf(newest: string): string {
    const names = readdirSync(join(data, 'releases'));
    return names.find((name) => ![basename(older), basename(newest)].includes(name)) ?? '';
  }

  describe('checkChain()', () => {
    it('takes a release that a compile removes while it is read for one that is gone', async () => {
      const removing: Disk = {
        ...nodeDisk,
        list(path) {
          const found = nodeDisk.list(path);
          if (path.endsWith('/..')) rmSync(older, { recursive: true, force: true });
          return found;
        },
      };
      expect(await faultsOf(removing)).toEqual([]);
    });

    it('takes a release whose removal was cut short for one that is gone', async () => {
      rmSync(join(older, RELEASE_NAME));
      expect(await faultsOf()).toEqual([]);
    });

    it('takes a release that is kept from before the version of the contract was raised', async () => {
      const first = await compileFolder(snapshots);
      resign(first.folder, { contract_version: CONTRACT_VERSION - 1 }, SEED);
      await compileFolder(snapshots, { data: first.data, asOf: '2026-11-21T12:00:00Z' });
      const { faults, checked } = await verifyRelease(first.data, { trust: 'any' });
      expect([faults, checked.releases]).toEqual([[], 2]);
    });

    it('names a head that is there and not the signed one', async () => {
      appendFileSync(join(older, RELEASE_NAME), ' ');
      expect(await faultsOf()).toEqual([
        expect.stringContaining('not the signed head of a release'),
      ]);
    });

    it('names a release of another issuer, also where no neighbour of its number is kept', async () => {
      const seed = new Uint8Array(32).fill(8);
      const stranger = await compileFolder(snapshots, { seed });
      rmSync(older, { recursive: true });
      const third = await compileFolder(snapshots, { data, asOf: '2026-11-21T13:00:00Z' });
      rmSync(join(data, 'releases', secondOf(third.folder)), { recursive: true });
      expect(await faultsOf()).toEqual([]);
      cpSync(stranger.folder, older, { recursive: true });
      expect(await faultsOf()).toEqual([expect.stringContaining('is no key of this issuer')]);
    });
  });
});
