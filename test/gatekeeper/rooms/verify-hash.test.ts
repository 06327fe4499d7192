import { afterEach, describe, expect, it, vi } from 'vitest';
import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import { citationStatement } from '../../../compiler/contract/citation.ts';
import { verifyShardPath } from '../../../compiler/contract/path.ts';
import { type CurrentEntry, formatVerifyEntry } from '../../../compiler/contract/release.ts';
import { FILE_COST, FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { proof } from '../../../gatekeeper/rooms/proof.ts';
import { verify } from '../../../gatekeeper/rooms/verify.ts';
import {
  HASH_PREFIX_MIN,
  hashPrefix,
  lookUpHash,
  RECOMPUTED_BYTES_MAX,
} from '../../../gatekeeper/rooms/verify-hash.ts';
import { sha256Text } from '../../sha256-text.ts';
import { hashes } from '../../stages/anchor/memory-log.ts';
import { loggedFiles, loggedService, SUPERSEDED_HASH, tinyHashes } from '../logged-service.ts';
import { tinyFiles } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

const DIGITS = SUPERSEDED_HASH.slice('sha256:'.length);

describe('hashPrefix()', () => {
  it('takes a whole or shortened hash with or without its algorithm', () => {
    expect(hashPrefix(SUPERSEDED_HASH)).toBe(DIGITS);
    expect(hashPrefix(DIGITS.slice(0, HASH_PREFIX_MIN))).toBe(DIGITS.slice(0, HASH_PREFIX_MIN));
  });

  it.each(['', 'abababa', `${DIGITS}0`, DIGITS.toUpperCase(), 'md5:abababab', '../../../'])(
    'refuses "%s"',
    (text) => {
      expect(hashPrefix(text)).toBeNull();
    },
  );
});

describe('lookUpHash()', () => {
  it('finds by prefix at the start of a line only', async () => {
    const service = { ...(await loggedService()), spend: FOR_EVERYBODY };
    expect(await lookUpHash(DIGITS.slice(0, 8), service)).toMatchObject({
      state: 'listed',
      entry: { record_hash: SUPERSEDED_HASH },
      check: null,
    });
    expect(await lookUpHash(`${DIGITS.slice(0, 8)}00`, service)).toEqual({ state: 'not_found' });
  });

  it('finds every hash of the log, and calls current what the release carries', async () => {
    const service = { ...(await loggedService()), spend: FOR_EVERYBODY };
    const state = async (hash: string) => {
      const found = await lookUpHash(hash.slice('sha256:'.length), service);
      return found.state === 'listed' ? found.entry.state : found.state;
    };
    for (const hash of tinyHashes()) expect(await state(hash)).toBe('current');
    for (const hash of hashes(0, 299)) expect(await state(hash)).toBe('superseded');
    for (const hash of hashes(1000, 50)) expect(await state(hash)).toBe('not_found');
  });

  it('reads no file of the log for a whole hash that the release carries', async () => {
    const { release, ...rest } = { ...(await loggedService()), spend: FOR_EVERYBODY };
    const read: string[] = [];
    const noted = Object.create(release, {
      body: { value: (path: string) => read.push(path) && release.body(path, FOR_EVERYBODY) },
    });
    const [hash = ''] = tinyHashes();
    await lookUpHash(hash.slice('sha256:'.length), { ...rest, release: noted });
    expect(read.filter((path) => path.startsWith('log/'))).toEqual([]);
    await lookUpHash(DIGITS, { ...rest, release: noted });
    expect(read.filter((path) => path.startsWith('log/index/'))).toEqual(['log/index/0-354/0.txt']);
  });

  it('asks for more digits where a hash of the release and one of the log begin alike', async () => {
    const [current = ''] = tinyHashes();
    const twin = `${current.slice(0, -1)}${current.endsWith('0') ? '1' : '0'}`;
    const made = await tinyService({ files: loggedFiles({}, [twin]) });
    const service = { ...made, spend: FOR_EVERYBODY };
    const digits = current.slice('sha256:'.length);
    const found = await lookUpHash(digits.slice(0, -1), service);
    expect(found).toEqual({ state: 'ambiguous', matches: 2 });
    expect(await lookUpHash(digits, service)).toMatchObject({ entry: { state: 'current' } });
    const other = await lookUpHash(twin.slice('sha256:'.length), service);
    expect(other).toMatchObject({ entry: { record_hash: twin, state: 'superseded' } });
  });
});

/** A census of about so many bytes with a citation at its end, and where its two hashes lead. */
async function longCensus(bytes: number) {
  const file = 'census/airquality.aqi.json';
  const citation = { statement_type: 'description', claim: 'a census', fact: `${bytes} bytes` };
  const cited = citationStatement(citation as Parameters<typeof citationStatement>[0]);
  const hashes = {
    citation: `sha256:${sha256Text(canonicalJson(cited))}`,
    row: `sha256:${sha256Text(canonicalJson({ hash_core_version: 3, n: bytes }))}`,
  };
  const row = { record_hash: hashes.row, _hash_core: { hash_core_version: 3, n: bytes } };
  const rows = [row, ...Array.from({ length: bytes / 20 }, (_, n) => ({ filler_of_row: n }))];
  const files = tinyFiles().set(
    file,
    Buffer.from(JSON.stringify({ rows, _citation: { ...citation, record_hash: hashes.citation } })),
  );
  for (const kind of ['citation', 'row'] as const) {
    const about = {
      signal_id: 'airquality.aqi',
      entity: 'all',
      observed_at: '2026-11-21T10:45:00Z',
    };
    const entry: CurrentEntry = {
      record_hash: hashes[kind],
      kind,
      state: 'current',
      file,
      ...about,
    };
    const shard = verifyShardPath(entry.record_hash);
    files.set(
      shard,
      Buffer.concat([files.get(shard) ?? Buffer.alloc(0), Buffer.from(formatVerifyEntry(entry))]),
    );
  }
  return { hashes, service: { ...(await tinyService({ files })), spend: FOR_EVERYBODY } };
}

describe('lookUpHash() of a long body', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([10_000, 4_000_000])(
    'I39: parses no more than a bounded part of %i bytes',
    async (bytes) => {
      const { hashes, service } = await longCensus(bytes);
      const parsed = vi.spyOn(JSON, 'parse');
      const found = await lookUpHash(hashes.citation.slice('sha256:'.length), service);
      expect(found).toMatchObject({ state: 'listed', check: { recomputedHash: hashes.citation } });
      const longest = Math.max(...parsed.mock.calls.map(([text]) => text.length));
      expect(longest).toBeGreaterThan(0);
      expect(longest).toBeLessThanOrEqual(RECOMPUTED_BYTES_MAX);
    },
  );

  it.each([
    ['/gauge/verify?hash=', verify],
    ['/v/', verify],
    ['/proof/', proof],
  ] as const)('I54: costs at %s what it parses', async (path, answerTo) => {
    const spent = async (bytes: number, kind: 'row' | 'citation'): Promise<number> => {
      const { hashes, service } = await longCensus(bytes);
      let units = 0;
      const spend = (more: number): void => {
        units += more;
      };
      await answerTo({ ...question(path + hashes[kind]), spend }, service);
      return units % FILE_COST;
    };
    expect(await spent(10_000, 'row')).toBeGreaterThan(0.5);
    expect(await spent(10_000, 'row')).toBeLessThan(2);
    expect(await spent(40_000, 'row')).toBeGreaterThan(2);
    // Of a longer file the end is parsed alone.
    expect(await spent(4_000_000, 'citation')).toBe(0);
    expect(await spent(4_000_000, 'row')).toBe(0);
  });

  it.each([
    [10_000, true],
    [4_000_000, false],
  ])('says of a row whether it was recomputed out of %i bytes', async (bytes, recomputed) => {
    const { hashes, service } = await longCensus(bytes);
    const looked = jsonOf(await verify(question(`/v/${hashes.row}`), service));
    expect(looked).toMatchObject({
      found: true,
      is_issuer_record: true,
      record_status: { state: 'current' },
      verified: recomputed,
      recomputed_hash: recomputed ? hashes.row : null,
      note: expect.stringContaining(recomputed ? 'recomputed just now' : 'too large'),
      statement: expect.not.stringContaining('superseded'),
    });
    const proven = jsonOf(await proof(question(`/proof/${hashes.row}`), service));
    expect(proven.hash_core).toBeNull();
  });

  it('tells a citation that the end of a long body does not hold', async () => {
    const { hashes, service } = await longCensus(4_000_000);
    const other = await longCensus(4_000_020);
    const broken = Object.create(service.release, {
      body: {
        value: (path: string) =>
          path.startsWith('census/')
            ? other.service.release.body(path, FOR_EVERYBODY)
            : service.release.body(path, FOR_EVERYBODY),
      },
    });
    const digits = hashes.citation.slice('sha256:'.length);
    const found = await lookUpHash(digits, { ...service, release: broken });
    expect(found).toMatchObject({ check: { recomputedHash: other.hashes.citation } });
  });
});
