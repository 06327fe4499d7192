import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { rollBack } from '../../compiler/commands/releases-command.ts';
import { RELEASE_PROOF_NAME } from '../../compiler/contract/release-leaf.ts';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { makeSealer, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { NO_SIGNATURES } from '../../compiler/stages/seal/signature-store.ts';
import { verifyRelease } from '../../compiler/verify/verify-release.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { headHash, proveAgain, readHeadOf, resign } from './resign.ts';

let data: string;
let snapshots: string;
const hourOf = (hour: number): string => `2026-11-20T${12 + hour}:00:00Z`;

/** Compiles the next hour, with one reading more. */
async function hour(at: number, more: object = {}) {
  const day = `2026-11-${10 + at}`;
  writeSnapshots(spotPrices(day, 1, 90_000 + at), snapshots);
  return compileFolder(snapshots, { data, asOf: hourOf(at), ...more });
}

beforeEach(async () => {
  snapshots = writeSnapshots({});
  data = join(makeFolder(), 'data');
  await hour(0);
  await hour(1);
});
afterAll(removeFolders);

const root = (): string => join(data, 'current');
const proofOf = (folder: string) =>
  parseTlogProof(readFileSync(join(folder, RELEASE_PROOF_NAME), 'utf8'));
const lastNote = (): string => readFileSync(join(data, 'log-checkpoint'), 'utf8');

async function faultsOf(): Promise<readonly string[]> {
  const { faults } = await verifyRelease(data, { trust: 'any' });
  return faults.map(({ file, where, detail }) => `${file} ${where} ${detail}`);
}

function signer(seed = SEED) {
  const {
    issuer_name: name,
    base_url: baseUrl,
    issuer_did: did,
    key_id: keyId,
  } = readHeadOf(root());
  const issuer = { name, baseUrl, did, keyId };
  return { issuer, sealer: makeSealer(issuer, signingKey(seed), NO_SIGNATURES) };
}

describe('the leaf of a release', () => {
  it('I73: comes right behind the listed log, and is the first entry of the next release', async () => {
    const [first = ''] = readdirSync(join(data, 'releases')).sort();
    const older = proofOf(join(data, 'releases', first));
    const { index, signed, checkpoint } = proofOf(root());
    const head = readHeadOf(root());
    expect([index, signed.size]).toEqual([head.log_index, (head.log_index ?? 0) + 1]);
    expect(lastNote()).toBe(checkpoint);
    expect(index).toBeGreaterThan(older.index + 1);
    const report = await verifyRelease(data, { trust: 'any' });
    expect([report.faults, report.checkpoint]).toEqual([[], checkpoint]);
  });

  it.each([
    ['incrementally', {}],
    ['from the snapshots', { full: true }],
  ])('is in the log of each later release, which is compiled %s', async (_, options) => {
    const names = readdirSync(join(data, 'releases'));
    const { isIncremental } = await hour(2, options);
    expect(isIncremental).toBe(!('full' in options));
    await hour(3, options);
    expect(await faultsOf()).toEqual([]);
    const heads = names.map((name) => headHash(readHeadOf(join(data, 'releases', name))));
    const listed = readFileSync(join(root(), 'files.txt'), 'utf8');
    const index = [...listed.matchAll(/^([0-9a-f]{64}) \d+ (log\/index\/.+)$/gm)];
    const lines = index.map(([, sha256 = '', path = '']) => {
      const stored = `files/${path.replace(/\.txt$/, '')}.${sha256.slice(0, 20)}.txt`;
      return readFileSync(join(data, stored), 'utf8');
    });
    for (const [at, name] of names.entries()) {
      expect(lines.join('')).toMatch(`["${heads[at]}",`);
      expect(lines.join('')).toMatch(`"release",null,"${name}"`);
    }
  });

  it('is in the log behind a rollback too', async () => {
    const name = basename((await hour(2)).folder);
    const [first = ''] = readdirSync(join(data, 'releases')).sort();
    const { release } = await rollBack({ data, name: first, asOf: hourOf(3), seed: SEED });
    expect(release.log_index).toBeGreaterThan(
      readHeadOf(join(data, 'releases', name)).log_index ?? 0,
    );
    expect([await faultsOf(), lastNote()]).toEqual([[], proofOf(root()).checkpoint]);
    await hour(4);
    expect(await faultsOf()).toEqual([]);
  });
});

describe('verifyRelease() of a proof', () => {
  const at = (): string => join(root(), RELEASE_PROOF_NAME);

  it('I73: names one that is gone, of another release, of another tree, or altered in any byte', async () => {
    const good = readFileSync(at());
    const [first = ''] = readdirSync(join(data, 'releases')).sort();
    const older = readFileSync(join(data, 'releases', first, RELEASE_PROOF_NAME));
    for (const bytes of [older, Buffer.alloc(0), Buffer.alloc(200_000, 'a')]) {
      writeFileSync(at(), bytes);
      expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof /)]);
    }
    for (let byte = 0; byte < good.length; byte += 17) {
      const bytes = Buffer.from(good);
      bytes[byte] = (bytes[byte] ?? 0) ^ 1;
      writeFileSync(at(), bytes);
      expect([byte, await faultsOf()]).toEqual([
        byte,
        [expect.stringMatching(/^release\.tlog-proof /)],
      ]);
    }
    rmSync(at());
    expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*missing/)]);
    writeFileSync(at(), good);
    expect(await faultsOf()).toEqual([]);
  });

  it('names one that another key signed', async () => {
    proveAgain(root(), readHeadOf(root()), signer(new Uint8Array(32).fill(8)));
    expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*signature/)]);
    proveAgain(root(), readHeadOf(root()), signer());
    expect(await faultsOf()).toEqual([]);
  });

  it('takes lines of witnesses, and refuses a head that states another place', async () => {
    const witness = `\u2014 witness.example/w ${Buffer.alloc(76, 9).toString('base64')}\n`;
    writeFileSync(at(), readFileSync(at(), 'utf8') + witness);
    expect(await faultsOf()).toEqual([]);
    await hour(2);
    expect(await faultsOf()).toEqual([]);
    resign(root(), { log_index: 1 }, SEED);
    expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*states 1/)]);
  });

  it('names an older release that is not where it states to be', async () => {
    const [first = ''] = readdirSync(join(data, 'releases')).sort();
    const { log_index = 0 } = readHeadOf(join(data, 'releases', first));
    resign(join(data, 'releases', first), { log_index: log_index + 1 }, SEED);
    expect(await faultsOf()).toContainEqual(
      expect.stringMatching(/^log entry \d+ not the head of/),
    );
  });

  it('verifies a release from before there were any, goes on from it, and takes no proof there', async () => {
    const { log_index: _, ...older } = readHeadOf(root());
    const proof = readFileSync(at());
    const note = readFileSync(join(data, 'log-checkpoint'), 'utf8');
    rmSync(at());
    writeFileSync(join(root(), 'release.json'), JSON.stringify(older));
    resign(root(), {}, SEED);
    expect(await faultsOf()).toEqual([]);
    writeFileSync(at(), proof);
    expect(await faultsOf()).toEqual([expect.stringMatching(/^release\.tlog-proof .*stray/)]);
    rmSync(at());
    await expect(hour(2)).rejects.toThrow('was already signed');
    rmSync(join(data, 'log-checkpoint'));
    expect(note).toContain('example.org/log');
    await hour(2);
    expect(await faultsOf()).toEqual([]);
    expect(existsSync(at())).toBe(true);
  });
});

describe('compile', () => {
  it('I73: refuses to go on from a release whose proof is gone or altered, and signs nothing', async () => {
    const at = join(root(), RELEASE_PROOF_NAME);
    const good = readFileSync(at);
    const before = readdirSync(join(data, 'releases'));
    rmSync(at);
    await expect(hour(2)).rejects.toThrow(RELEASE_PROOF_NAME);
    writeFileSync(at, good.toString('utf8').replace('index ', 'index 1'));
    await expect(hour(2)).rejects.toThrow(RELEASE_PROOF_NAME);
    writeFileSync(at, good);
    proveAgain(root(), readHeadOf(root()), signer(new Uint8Array(32).fill(8)));
    await expect(hour(2)).rejects.toThrow('this issuer did not sign its checkpoint');
    expect(readdirSync(join(data, 'releases'))).toEqual(before);
    proveAgain(root(), readHeadOf(root()), signer());
    await hour(2);
    expect(await faultsOf()).toEqual([]);
  });

  it('refuses to go on from a copy whose newest release is not the one that was last signed', async () => {
    const copy = join(makeFolder(), 'copy');
    cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
    await hour(2);
    for (const name of ['current', 'releases', 'files']) {
      rmSync(join(data, name), { recursive: true, force: true });
      cpSync(join(copy, name), join(data, name), { recursive: true, verbatimSymlinks: true });
    }
    await expect(hour(3)).rejects.toThrow('was already signed');
  });
});
