import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { citationStatement } from '../../../compiler/format/citation.ts';
import { hashCore } from '../../../compiler/format/record-hash.ts';
import {
  formatVerifyEntry,
  parseVerifyEntry,
  type VerifyEntry,
} from '../../../compiler/format/release.ts';
import { rosterCore } from '../../../compiler/products/collections.ts';
import { verifyShardPath } from '../../../compiler/products/shapes/path.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import type { ReleaseIndex } from '../../../gatekeeper/heart/release/release-index.ts';
import { verifyPage } from '../../../gatekeeper/rooms/atlas/pages.ts';
import { proof } from '../../../gatekeeper/rooms/proof.ts';
import { verify } from '../../../gatekeeper/rooms/verify.ts';
import {
  coreMembers,
  freeFacts,
  lookUpHash,
  RECOMPUTED_BYTES_MAX,
  storedCore,
} from '../../../gatekeeper/rooms/verify-hash.ts';
import { FILE_COST, FOR_EVERYBODY } from '../../../gatekeeper/wire/cost.ts';
import { rosterFiles, rosterSet } from '../../roster-rows.ts';
import {
  AS_OF,
  compileFolder,
  removeFolders,
  sha256Text,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import {
  hashes,
  loggedRelease,
  loggedService,
  logLinesIn,
  SUPERSEDED_HASH,
  tinyHashes,
} from '../logged-service.ts';
import { tinyFiles, tinyRecord } from '../tiny-release.ts';
import { compiledService, jsonOf, question, tinyService } from '../tiny-service.ts';

const DIGITS = SUPERSEDED_HASH.slice('sha256:'.length);

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
    expect(read.filter((path) => path.startsWith('index/hashes/'))).toEqual([]);
    await lookUpHash(DIGITS, { ...rest, release: noted });
    expect(read.filter((path) => path.endsWith('/0.txt'))).toEqual(['index/hashes/0-354/0.txt']);
  });

  it('asks for more digits where a hash of the release and one of the log begin alike', async () => {
    const [current = ''] = tinyHashes();
    const twin = `${current.slice(0, -1)}${current.endsWith('0') ? '1' : '0'}`;
    const made = await tinyService(loggedRelease([twin]));
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
  const about = { signal_id: 'airquality.aqi', entity: 'all', observed_at: '2026-11-21T10:45:00Z' };
  for (const kind of ['citation', 'row'] as const) {
    const record_hash = hashes[kind];
    const line = formatVerifyEntry({ record_hash, kind, state: 'current', file, ...about });
    const shard = verifyShardPath(record_hash);
    files.set(shard, Buffer.concat([files.get(shard) ?? Buffer.alloc(0), Buffer.from(line)]));
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

const entry = (more: Partial<VerifyEntry>): VerifyEntry => ({
  record_hash: `sha256:${'0'.repeat(64)}`,
  kind: 'row',
  state: 'current',
  file: 'some/file.json',
  signal_id: null,
  entity: 'somebody',
  observed_at: '2026-11-20T10:45:00Z',
  ...more,
});

describe('freeFacts()', () => {
  it('tells subject and time of a current reading, and of a citation of readings', () => {
    for (const kind of ['reading', 'citation'] as const) {
      expect(freeFacts(entry({ kind, signal_id: 'airquality.aqi' }), BUILTIN)).toEqual({
        signal_id: 'airquality.aqi',
        entity: 'somebody',
        observed_at: '2026-11-20T10:45:00Z',
      });
    }
  });

  it('I52: tells no earlier time of a series, and no time of the citation of a filing', () => {
    const old = entry({ kind: 'reading', state: 'superseded', signal_id: 'airquality.aqi' });
    expect(freeFacts(old, BUILTIN)).toMatchObject({ entity: 'somebody', observed_at: null });
    expect(freeFacts(entry({ kind: 'citation' }), BUILTIN)).toMatchObject({ observed_at: null });
  });

  it.each([
    ['trust.service', 'trust.service'],
    ['stablecoin.death', 'stablecoin.death'],
    ['taiwan-strait.vessel-transits', null],
    [null, null],
  ])('I52: tells of a row of %s its kind alone', (signal_id, want) => {
    const nothing = { signal_id: want, entity: null, observed_at: null };
    expect(freeFacts(entry({ signal_id }), BUILTIN)).toEqual(nothing);
    expect(freeFacts(entry({ signal_id, state: 'superseded' }), BUILTIN)).toEqual(nothing);
  });
});

describe('coreMembers()', () => {
  it.each([
    [{ kind: 'citation' }, 'content_hash', 'source'],
    [{ kind: 'reading', signal_id: 'airquality.aqi' }, 'record_hash', 'lifecycle'],
    [{}, 'note', 'accession'],
    [{ signal_id: 'trust.service' }, 'name', 'demand_class'],
    [{ signal_id: 'mcp.server' }, 'demand_class', 'status'],
    [{ signal_id: 'taiwan-strait.vessel-transits' }, 'row', 'current'],
  ] as const)('of %j names what is hashed, not %s but %s', (more, absent, present) => {
    const members = coreMembers(entry(more));
    expect(members).toContain(present);
    expect(members).not.toContain(absent);
  });
});

describe('storedCore()', () => {
  const HASH = `sha256:${'1'.repeat(64)}`;

  const ROW = entry({ record_hash: HASH });

  const server = {
    server_id: 'a-mcp',
    capture_date: '2026-11-20',
    observed_at: '2026-11-20T00:00:00Z',
    status: 'active',
    source_ref: null,
    source_tier: null,
    record_hash: HASH,
    name: 'not hashed',
  };

  it('takes the pre-image beside a row', () => {
    const row = { record_hash: HASH, _hash_core: { hash_core_version: 3, entity: 'x' } };
    expect(storedCore(ROW, { rows: [{ record_hash: null }, row] })).toEqual(row._hash_core);
  });

  it('composes the core of a subject from its own members', () => {
    expect(storedCore(ROW, server)).toEqual(rosterCore('mcp.server', server));
  });

  it('composes the core of a leg that carries all members', () => {
    const leg = {
      ...tinyRecord('airquality.aqi', 'us-denver', { aqi_index: 1 }),
      record_hash: HASH,
    };
    expect(storedCore(ROW, { legs: { air: leg } })).toEqual(hashCore(leg as never));
  });

  it.each([
    { rows: [{ record_hash: HASH, _hash_core: null }] },
    { rows: [{ record_hash: `sha256:${'2'.repeat(64)}`, _hash_core: {} }] },
    { ...server, status: undefined, record_hash: `sha256:${'2'.repeat(64)}` },
    {},
  ])('refuses a body without the row: %j', (body) => {
    expect(() => storedCore(ROW, body)).toThrow('not in its file');
  });
});

describe('lookUpHash() over compiled rosters and documents', () => {
  afterAll(removeFolders);

  /** Texts of all files below a folder of a release, by their paths. */
  async function textsBelow(folder: string, release: ReleaseIndex) {
    const paths = release.files.pathsUnder(folder, 1000);
    const bodies = await Promise.all(paths.map((path) => release.body(path, FOR_EVERYBODY)));
    return bodies.map(({ bytes }, at) => [paths[at] ?? '', bytes.toString('utf8')] as const);
  }

  /** What the release lists and the log holds: rows, and statements of the bodies that join them. */
  async function currentHashes(release: ReleaseIndex): Promise<Set<string>> {
    const shards = await textsBelow('verify/', release);
    const lines = shards.flatMap(([, text]) => text.split('\n').slice(0, -1));
    return new Set(lines.map((line) => parseVerifyEntry(line).record_hash));
  }

  it('I36: finds every published row and recomputes the current ones', async () => {
    const { data } = await compileFolder(writeSnapshots(rosterFiles(rosterSet())));
    const service = await compiledService(data, AS_OF);
    const current = await currentHashes(service.release);
    const entries = logLinesIn(await textsBelow('index/hashes/', service.release));
    for (const { record_hash, sequence: _, index: __, ...facts } of entries) {
      const found = await lookUpHash(record_hash.slice('sha256:'.length), {
        ...service,
        spend: FOR_EVERYBODY,
      });
      const isCurrent = current.delete(record_hash);
      const state = isCurrent ? 'current' : 'superseded';
      expect(found).toMatchObject({ state: 'listed', entry: { record_hash, state, ...facts } });
      const hash = found.state === 'listed' ? (found.check?.recomputedHash ?? null) : 'none';
      expect(hash).toBe(isCurrent ? record_hash : null);
    }
    // What is left are statements, which nothing takes in.
    for (const record_hash of current) {
      const found = await lookUpHash(record_hash.slice('sha256:'.length), {
        ...service,
        spend: FOR_EVERYBODY,
      });
      expect(found).toMatchObject({ entry: { kind: 'citation', state: 'current' } });
    }
    expect(entries.length).toBeGreaterThan(20);
  });
});

const RECORD = tinyRecord('airquality.aqi', 'us-denver', { aqi_index: 42, band: 'good' });
const HASH = RECORD.record_hash;

async function looked(target: string, service?: Service): Promise<Record<string, unknown>> {
  return jsonOf(await verify(question(target), service ?? (await tinyService())));
}

describe('verify()', () => {
  it.each([
    `/gauge/verify?hash=${HASH}`,
    `/gauge/verify?record_hash=${HASH.slice(7)}`,
    `/gauge/verify?hash=${HASH.slice(0, 15)}`,
    `/v/${HASH}`,
  ])('recomputes a current record: %.40s', async (target) => {
    expect(await looked(target)).toMatchObject({
      endpoint: 'gauge/verify',
      hash: HASH,
      found: true,
      verified: true,
      recomputed_hash: HASH,
      is_issuer_record: true,
      is_truth_bear_record: true,
      record_status: { state: 'current' },
      signal_id: 'airquality.aqi',
      entity: 'us-denver',
      scope: 'screening-level',
      statement: expect.stringContaining('attests the reading'),
    });
  });

  it('finds a superseded record and says that it is not recomputed', async () => {
    expect(await looked(`/v/${SUPERSEDED_HASH}`, await loggedService())).toMatchObject({
      found: true,
      verified: false,
      recomputed_hash: null,
      record_status: { state: 'superseded' },
    });
  });

  it('does not find what is not ours', async () => {
    expect(await looked(`/v/sha256:${'0'.repeat(64)}`)).toMatchObject({
      found: false,
      verified: false,
      record_status: { state: 'not_found' },
    });
  });

  it('says when a prefix is ambiguous', async () => {
    const twin = `${SUPERSEDED_HASH.slice(0, -1)}c`;
    const service = await tinyService(loggedRelease([twin]));
    expect(await looked(`/v/${SUPERSEDED_HASH.slice(0, 20)}`, service)).toMatchObject({
      found: false,
      ambiguous: true,
      matches: 2,
    });
    expect(await looked(`/v/${twin}`, service)).toMatchObject({ found: true, hash: twin });
  });

  it('does not verify a stored record whose fields give another hash', async () => {
    const files = tinyFiles();
    const forged = { ...RECORD, current: { aqi_index: 1 } };
    files.set('record/airquality.aqi/us-denver.json', Buffer.from(canonicalJson(forged)));
    const body = await looked(`/v/${HASH}`, await tinyService({ files }));
    expect(body).toMatchObject({ found: true, verified: false });
    expect(body.recomputed_hash).not.toBe(HASH);
  });

  const NONE = ['', 'sha256:', 'sha256:1234567', '1234567', 'sha256:GGGGGGGG', 'md5:abababab', 'x'];
  it.each([...NONE, HASH.toUpperCase(), `${HASH}0`, '../../../'])(
    'answers 400 with the usage for the hash "%s"',
    async (hash) => {
      const target = `/gauge/verify?hash=${hash}`;
      expect(await looked(target)).toMatchObject({ status: 400, usage: expect.any(String) });
    },
  );

  it('I32: says undetermined when the shard or the record cannot be read, never not found', async () => {
    const service = await tinyService();
    for (const path of [verifyShardPath(HASH), 'record/airquality.aqi/us-denver.json']) {
      const release = Object.assign(Object.create(service.release), {
        has: () => true,
        body: async (asked: string) => {
          if (asked === path) throw new Error('EIO');
          return service.release.body(asked, FOR_EVERYBODY);
        },
      });
      expect(await looked(`/v/${HASH}`, { ...service, release })).toMatchObject({
        status: 503,
        undetermined: true,
        retryable: true,
      });
    }
  });

  it('is a page for browsers, with nothing of the data as markup', async () => {
    const files = tinyFiles();
    const hash = `sha256:${'cd'.repeat(32)}`;
    const line = formatVerifyEntry({
      kind: 'reading',
      state: 'current',
      file: 'record/airquality.aqi/us-denver.json',
      signal_id: null,
      record_hash: hash,
      entity: '<script>alert("1")</script>',
      observed_at: '2026-11-21T10:45:00Z',
    });
    files.set(verifyShardPath(hash), Buffer.from(line));
    const service = await tinyService({ files });
    const page = await verify(question(`/v/${hash}`, 'text/html,*/*'), service);
    if (page.kind !== 'content') throw new Error(page.kind);
    expect(page.content.contentType).toMatch(/^text\/html/);
    expect(page.content.headers).toContainEqual(['vary', 'accept']);
    const text = page.content.body.toString();
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>');
    const json = await verify(question(`/v/${hash}`, 'text/html, application/json'), service);
    expect(jsonOf(json)).toMatchObject({ found: true });
  });
});

describe('verifyPage()', () => {
  const body = {
    endpoint: 'gauge/verify',
    hash: 'sha256:00',
    found: true,
    verified: true,
    recomputed_hash: null,
    is_issuer_record: true,
    is_truth_bear_record: true,
    record_status: { state: 'current' },
    signal_id: null,
    entity: '"><img src=x onerror=alert(1)>',
    observed_at: null,
    source_ref: "javascript:alert('1')",
    scope: null,
    note: 'a & b',
    ots_status: null,
    statement: '</p><script>1</script>',
  } as const;

  it('shows every fact and escapes all of it', () => {
    const shop = { issuerName: 'Issuer <b>', baseUrl: 'https://example.org', styles: ['/a.css'] };
    const page = verifyPage(body, shop);
    expect(page).toContain('a &amp; b');
    expect(page).toContain('Issuer &lt;b&gt;');
    expect(page).not.toMatch(/<script|<img|<b>|javascript:alert\('|style=/);
    expect(page).toContain('&lt;script&gt;1&lt;/script&gt;');
  });
});
