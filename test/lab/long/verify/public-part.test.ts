import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FileEntry, formatFiles } from '../../../../compiler/format/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../../../../compiler/format/strict-json.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { nodeDisk } from '../../../../compiler/system/disk.ts';
import { givenCatalog, givenKeys } from '../../../../compiler/verify/given-keys.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../../compiler/verify/verify-log.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import {
  copyPublicPart,
  flipBit,
  namedAtOnce,
  overlayDisk,
  publicEntries,
} from '../../../public-part.ts';
import { ownShop, type Shop, smallShop } from '../../../shop.ts';
import { smallSet } from '../../../small-set.ts';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';
import { readHeadOf, resign } from '../../../verify/resign.ts';

let data: string;
let mirror: string;
let did: string;
let entries: readonly FileEntry[];
beforeAll(async () => {
  ({ data, did } = await ownShop('small-set', smallSet));
  mirror = copyPublicPart(data, join(makeFolder(), 'mirror'));
  entries = publicEntries(data);
});
afterAll(removeFolders);

const root = (folder: string): string => join(folder, 'current');
const named = async (folder: string, disk = nodeDisk) => {
  const { faults } = await verifyRelease(folder, { trust: [did], disk });
  return [...new Set(faults.map(({ file }) => file))];
};

describe('verifyRelease() of a public part', () => {
  it('verifies all of it, and says that it is not the whole', async () => {
    const report = await verifyRelease(mirror, { trust: [did] });
    expect([report.verdict, report.faults, report.strays]).toEqual(['verified', [], []]);
    const { files_count: of, public_files } = readHeadOf(root(data));
    expect(report.part).toEqual({ isPublic: true, held: public_files?.count, of });
    expect(report.files).toBe(entries.length);
    expect(report.files).toBeLessThan(of);
    const { checked } = report;
    for (const count of [checked.citations, checked.listed_hashes, checked.log_entries]) {
      expect(count).toBeGreaterThan(0);
    }
    expect(checked.logged_hashes).toBeUndefined();
    const { exitCode, text } = await runVerify(mirror, { issuer: [did] });
    expect(exitCode).toBe(0);
    expect(text).toContain(`verified  ${mirror} (its public part only)`);
    expect(text).toContain(
      `public part: ${entries.length} of ${of} files; what is sold was not looked at`,
    );
  });

  it('says nothing of the kind of a whole release', async () => {
    const { verdict, part } = await verifyRelease(data, { trust: [did] });
    const of = readHeadOf(root(data)).files_count;
    expect([verdict, part]).toEqual(['verified', { isPublic: false, held: of, of }]);
    expect((await runVerify(data, { issuer: [did] })).text).not.toContain('public part');
  });

  it('I24: names every file with one bit flipped, and no other', async () => {
    for (const [at, some] of namedAtOnce(entries).entries()) {
      const places = new Map(some.map((entry) => [storedPath(entry.path, entry.sha256), entry]));
      const disk = overlayDisk((path, bytes) => {
        const place = path.slice(path.indexOf('/files/') + 1);
        return places.has(place) ? flipBit(bytes, (at * 7919) % (bytes.length * 8)) : bytes;
      });
      expect(await named(mirror, disk)).toEqual(some.map(({ path }) => path));
    }
  });

  it('names a file that is missing', async () => {
    const [first] = entries;
    if (first === undefined) throw new TypeError('no files');
    const folder = copyPublicPart(data, join(makeFolder(), 'mirror'));
    rmSync(join(folder, storedPath(first.path, first.sha256)));
    expect(await named(folder)).toEqual([first.path]);
  });

  it.each([
    ['one line less', (lines: FileEntry[]) => lines.slice(1)],
    ['no line', () => []],
    [
      'another size',
      (lines: FileEntry[]) => lines.map((line, at) => (at === 0 ? { ...line, size: 1 } : line)),
    ],
  ])('refuses a list of %s, which no head signs', async (_, change) => {
    const folder = copyPublicPart(data, join(makeFolder(), 'mirror'));
    writeFileSync(join(root(folder), 'files.txt'), formatFiles(change([...entries])));
    expect(await named(folder)).toEqual(['release.json']);
  });

  it('takes no public list of a head that signs none', async () => {
    const folder = copyPublicPart(data, join(makeFolder(), 'mirror'));
    const { public_files: _, signature: __, ...older } = readHeadOf(root(folder));
    writeFileSync(join(root(folder), 'release.json'), `${JSON.stringify(older, null, 2)}\n`);
    expect(await named(folder)).toEqual(['release.json']);
  });
});

describe('verifyRelease() of a whole release', () => {
  it.each([
    ['hash', { sha256: `sha256:${'0'.repeat(64)}` }],
    ['count', { count: 1 }],
  ])(
    'I52: names a head whose public list has another %s than its public lines',
    async (_, other) => {
      const folder = (await ownShop('small-set', smallSet)).data;
      const { public_files: own } = readHeadOf(root(folder));
      if (own === undefined) throw new TypeError('no public list');
      resign(root(folder), { public_files: { ...own, ...other } });
      const { faults } = await verifyRelease(folder, { trust: [did] });
      expect(faults.map(({ file, where }) => [file, where])).toEqual([
        ['release.json', `public_files.${Object.keys(other)[0]}`],
      ]);
    },
  );
});

describe('verifyRelease() of a public part with its log', () => {
  it('I27: names a log that is gone, and a hash that no release took in', async () => {
    const folder = copyPublicPart(data, join(makeFolder(), 'mirror'));
    writeFileSync(join(folder, 'log/new/1'), new Uint8Array(32));
    expect(await named(folder)).toEqual(['log/new/1']);
    rmSync(join(folder, 'log'), { recursive: true });
    expect(await named(folder)).toEqual(['log/checkpoint']);
  });
});

describe('what a public part is good for', () => {
  it('its log verifies', () => {
    const { verdict, entries: logged, faults } = verifyLog(mirror, { trust: [did] });
    expect([verdict, faults]).toEqual(['verified', []]);
    expect(logged).toBe(1);
  });

  it('it is a list of keys, and the log with it', () => {
    for (const folder of [mirror, data]) {
      expect(Object.keys(givenKeys(nodeDisk, folder, { trust: [did] }))).toEqual(['keys', 'log']);
    }
  });

  it('it is a catalogue', () => {
    const { catalog } = givenCatalog(nodeDisk, mirror, { trust: [did] });
    expect(catalog.lines.length).toBeGreaterThan(0);
  });
});

const signer = vi.hoisted(() => ({ genuine: null as string | null, answers: new Map() }));

/**
 * The forger of these tests signs any changed statement at will, so that the other checks stand alone (and
 * so that they take seconds). Over the genuine statement Ed25519 itself is asked, once for each question.
 */
vi.mock('@noble/ed25519', async (original) => {
  const ed = await original<typeof import('@noble/ed25519')>();
  const verify: typeof ed.verify = (...asked) => {
    const [signature, message, publicKey] = asked.map((each) => String(each));
    signer.genuine ??= message ?? '';
    if (message !== signer.genuine) return true;
    const question = `${signature} ${publicKey}`;
    const answer = signer.answers.get(question) ?? ed.verify(...asked);
    signer.answers.set(question, answer);
    return answer;
  };
  return { ...ed, verify };
});

let release: Shop;
beforeAll(async () => {
  release = await smallShop();
});
afterAll(() => release.dispose());

/** Bits whose flip still gives a verified body; a step of 9 tries one bit of nearly every byte, each time another. */
function undetected(path: string, step: 1 | 9): number[] {
  const bytes = Buffer.from(release.text(path));
  const isVerified = (body: JsonValue): boolean =>
    verifyBody(body, { trust: [release.did], isStored: true }).verdict === 'verified';
  signer.genuine = null;
  signer.answers.clear();
  expect(isVerified(release.body(path))).toBe(true);
  const missed: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += step) {
    const body = parsed(flipBit(bytes, bit));
    if (body !== undefined && isVerified(body)) missed.push(bit);
  }
  return missed;
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(decodeUtf8(bytes));
  } catch {
    return undefined;
  }
}

describe('I24: verifyBody() refuses a body with any one bit flipped', () => {
  it.each([
    ['lifecycle/kyoto-protocol.json', 1],
    ['thin/calibrated/airquality.aqi/us-denver.json', 9],
    ['thin/bundle/filing/~41~41~50~4c.json', 9],
    ['free/sample/filing.insider.json', 9],
  ] as const)('I24: %s, bits %s apart', (path, step) => {
    expect(undetected(path, step)).toEqual([]);
  });
});
