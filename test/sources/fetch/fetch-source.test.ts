import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SourceRow } from '../../../compiler/catalog/register.ts';
import {
  type AgencyClient,
  agencyClient,
  type FetchBy,
} from '../../../compiler/sources/fetch/agency-client.ts';
import { Archive, notePath } from '../../../compiler/sources/fetch/archive.ts';
import { fetchSource, refuseLook } from '../../../compiler/sources/fetch/sources-runner.ts';
import { ImportError } from '../../../compiler/sources/kit/payload.ts';
import type { Source } from '../../../compiler/sources/kit/source.ts';
import { Pace } from '../../../compiler/system/clock.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { Agency, BROKEN_MOODS, type BrokenMood } from './agency.ts';
import { testRow, VirtualClock } from './test-row.ts';

const HOST = 'data.example.gov';
const OTHER = 'www.example.gov';
const BODY = JSON.stringify({ rows: Array.from({ length: 400 }, (_, at) => at) });
const JSON_REPLY = { body: BODY, type: 'application/json; charset=utf-8' };
const KEY = 's3cret/key';

const agency = new Agency();
let archive: Archive;
let clock: VirtualClock;
let client: AgencyClient;
let by: FetchBy;

beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);
beforeEach(() => {
  archive = new Archive(makeFolder());
  clock = new VirtualClock('2026-11-20T11:00:00Z');
  agency.now = () => clock.ms;
  agency.asked.length = 0;
  agency.moods.clear();
  agency.retryAfter = '3600';
  agency.serve(HOST, JSON_REPLY);
  client = agencyClient({
    userAgent: 'signalpress/test (ops@example.org)',
    origins: agency.origins([HOST, OTHER]),
    timeouts: { connect: 1000, silence: 150, total: 3000 },
    bytesMax: 8 << 20,
  });
  const pace = new Pace(clock);
  by = { client, archive, clock, pace, contact: 'ops@example.org', keyOf: () => KEY };
});
afterEach(() => client.close());

function source(
  more: Partial<SourceRow> = {},
  paths: readonly string[] = ['/a'],
  by: Partial<Source> = {},
): Source {
  const urls = paths.map((path) => (path.startsWith('/') ? `https://${HOST}${path}` : path));
  const row = testRow(urls, { hosts: [OTHER], ...more });
  const { id, agency, format, feeds } = row;
  const read = () => ({ readings: new Map(), skipped: [], remarks: [] });
  return { id, agency, format, feeds, row, version: 1, read, ...by };
}

const perMinute = (per_minute: number) => ({ pace: { every_minutes: 60, per_minute } });

const payloadsOf = () =>
  archive.fetches().map((archived) => Buffer.from(archive.payload(archived)).toString());
const leftovers = () => {
  const entries = readdirSync(archive.folder, { recursive: true, encoding: 'utf8' });
  return entries.filter((name) => name.includes('.incoming') || name.endsWith('.new'));
};

const KEY_ROW = { variable: 'SIGNALPRESS_TEST_KEY', in: 'query', name: 'k' } as const;
const FORBIDDEN = { ...testRow([]).terms, licence: 'non-commercial', may_be_sold: false } as const;

function ended(ends: string): Source {
  return source(testRow([{ url: `https://${HOST}/a`, ends, page: 'https://example.gov/news' }]));
}

describe('fetchSource()', () => {
  it('archives what came, says who asks, and imports it', async () => {
    const outcome = await fetchSource(source(), [], by);
    expect(outcome).toMatchObject({ answered: 1, changed: 1, failure: null, remarks: [] });
    expect(outcome.fetched).toMatchObject([
      { url: `https://${HOST}/a`, fetched_at: '2026-11-20T11:00:00Z', http_status: 200 },
    ]);
    expect(payloadsOf()).toEqual([BODY]);
    const [asked] = agency.asked;
    expect(asked?.headers).toMatchObject({
      'user-agent': 'signalpress/test (ops@example.org)',
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
    expect(leftovers()).toEqual([]);
  });

  it('takes the same bytes out of gzip', async () => {
    agency.moods.set(HOST, 'gzip');
    expect((await fetchSource(source(), [], by)).failure).toBeNull();
    expect(payloadsOf()).toEqual([BODY]);
  });

  it('asks whether anything changed: a 304 costs nothing, and the look is remembered', async () => {
    await fetchSource(source(), [], by);
    const before = readdirSync(archive.folder, { recursive: true });
    clock.ms += 600_000;
    expect(await fetchSource(source(), [], by)).toMatchObject({
      fetched: [],
      changed: 0,
      answered: 1,
      failure: null,
    });
    expect(agency.asked[1]?.status).toBe(304);
    expect(readdirSync(archive.folder, { recursive: true })).toEqual(before);
    const [look] = archive.looks('test-source').values();
    expect(look).toMatchObject({
      noted_at: '2026-11-20T11:00:00Z',
      looked_at: '2026-11-20T11:10:00Z',
    });
  });

  it('notes a look once the agency was due to publish again, with the payload that is there', async () => {
    const [first] = (await fetchSource(source(), [], by)).fetched;
    clock.ms += 3_600_000;
    const { fetched } = await fetchSource(source(), [], by);
    expect(fetched).toMatchObject([{ http_status: 304, fetched_at: '2026-11-20T12:00:00Z' }]);
    expect(fetched[0]).toMatchObject({ sha256: first?.sha256, payload_day: '2026-11-20' });
    expect(fetched[0]?.after).toContain(first?.sha256);
    expect(payloadsOf()).toEqual([BODY, BODY]);
    expect(readdirSync(join(archive.folder, 'test-source', '2026-11-20'))).toHaveLength(3);
  });

  it('knows the same bytes again without an ETag, and keeps them once', async () => {
    agency.moods.set(HOST, 'gzip');
    await fetchSource(source(), [], by);
    clock.ms += 600_000;
    expect(await fetchSource(source(), [], by)).toMatchObject({ fetched: [], changed: 0 });
    agency.serve(HOST, { ...JSON_REPLY, body: '{"rows":[]}' });
    expect(await fetchSource(source(), [], by)).toMatchObject({ changed: 1 });
    expect(leftovers()).toEqual([]);
  });

  it('does not keep a header that is longer than a note may be', async () => {
    agency.moods.set(HOST, 'long-winded');
    const { fetched, failure } = await fetchSource(source(), [], by);
    expect(failure).toBeNull();
    expect(fetched[0]).not.toHaveProperty('etag');
    expect(archive.fetches()).toEqual(fetched);
    clock.ms += 60_000;
    await fetchSource(source(), [], by);
    expect(agency.asked.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('asks for the whole again where no importer could read it', async () => {
    const [first] = (await fetchSource(source(), [], by)).fetched;
    if (first === undefined) throw new TypeError('Cannot test: nothing was fetched');
    refuseLook(archive, first);
    clock.ms += 60_000;
    expect((await fetchSource(source(), [], by)).fetched).toHaveLength(1);
    expect(agency.asked[1]?.headers['if-none-match']).toBeUndefined();
  });

  const REPORTED: Readonly<Record<BrokenMood, RegExp>> = {
    busy: /answered HTTP 429, and to come back in 3600 s; ask less often/,
    down: /answered HTTP 500; the agency is at fault/,
    refusing: /answered HTTP 403; check the data key and SIGNALPRESS_CONTACT/,
    slow: /no (whole )?answer in time/,
    cut: /the connection broke/,
    'cut-gzip': /its gzip is damaged or ends too early/,
    'cut-chunk': /the connection broke/,
    'wrong-type': /answered 200 with image\/png, not json/,
    page: /answered 200 with a page of markup, not json/,
    redirect: /leads to https:\/\/login\.example\.com, which is not the agency's/,
    bomb: /longer than 8388608 bytes, of which nothing was kept/,
    huge: /longer than 8388608 bytes, of which nothing was kept/,
    empty: /an empty body/,
    // These are whole answers, or may be: the importer says what they are.
    'cut-line': /^$/,
    'half-json': /^$/,
    'other-format': /^$/,
  };

  it.each(BROKEN_MOODS.filter((mood) => REPORTED[mood].source !== '^$'))(
    'keeps nothing of an agency that is %s, and says so by its address',
    async (mood) => {
      agency.moods.set(HOST, mood);
      const outcome = await fetchSource(source(), [], by);
      expect(outcome).toMatchObject({ fetched: [], answered: 0 });
      expect(outcome.failure).toMatch(REPORTED[mood]);
      expect(outcome.failure).toContain(`https://${HOST}/a`);
      expect(archive.fetches()).toEqual([]);
      expect(leftovers()).toEqual([]);
      // The next answer is as if nothing had been.
      agency.moods.clear();
      expect(await fetchSource(source(), [], by)).toMatchObject({ failure: null, changed: 1 });
    },
  );

  it('finds a page for people behind a byte order mark', async () => {
    agency.serve(HOST, { ...JSON_REPLY, body: '\ufeff <html>busy</html>' });
    const { failure } = await fetchSource(source(), [], by);
    expect(failure).toContain('a page of markup');
    agency.serve(HOST, { ...JSON_REPLY, body: `\ufeff${BODY}` });
    expect((await fetchSource(source(), [], by)).failure).toBeNull();
  });

  it('I55: keeps no table of an answer that does not say where it ends', async () => {
    const text = `day,rain\n${'2026-11-19,4.5\n'.repeat(40)}`;
    agency.serve(HOST, { body: text, type: 'text/csv' });
    agency.moods.set(HOST, 'cut-line');
    const table = source({ format: 'csv' });
    const cut = await fetchSource(table, [], by);
    expect(cut).toMatchObject({ fetched: [], answered: 0 });
    expect(cut.failure).toContain('says neither how long it is nor where it ends');
    expect(leftovers()).toEqual([]);
    for (const mood of ['well', 'gzip'] as const) {
      agency.moods.set(HOST, mood);
      expect((await fetchSource(table, [], by)).failure).toBeNull();
    }
    expect(payloadsOf()).toEqual([text]);
  });

  it('asks again after a fault of the agency, with a growing wait, and not after a fault of ours', async () => {
    agency.moods.set(HOST, 'down');
    await fetchSource(source(), [], by);
    expect(agency.asked).toHaveLength(3);
    expect(clock.waits.filter((ms) => ms >= 1000)).toEqual([1500, 3000]);
    agency.moods.set(HOST, 'wrong-type');
    await fetchSource(source(), [], by);
    expect(agency.asked).toHaveLength(4);
  });

  it('waits as long as a busy agency asks, where that is short, and else leaves it for later', async () => {
    agency.moods.set(HOST, 'busy');
    agency.retryAfter = '20';
    expect((await fetchSource(source(), [], by)).waitMs).toBe(20_000);
    expect(clock.waits.filter((ms) => ms >= 1000)).toEqual([20_000, 20_000]);
    agency.asked.length = 0;
    agency.retryAfter = new Date(clock.ms + 7_200_000).toUTCString();
    expect((await fetchSource(source(), [], by)).waitMs).toBeGreaterThan(7_190_000);
    expect(agency.asked).toHaveLength(1);
  });

  it('asks a host no faster than it takes', async () => {
    await fetchSource(source(perMinute(4), ['/a', '/b', '/c']), [], by);
    expect(clock.waits).toEqual([15_000, 15_000]);
  });

  it('leaves one bad address behind, and asks nothing more after several in a row', async () => {
    agency.serve(HOST, (path) => (path === '/b' ? null : JSON_REPLY));
    const one = await fetchSource(source({}, ['/a', '/b', '/c']), [], by);
    expect(one).toMatchObject({ answered: 2 });
    expect(one.failure).toContain(`${HOST}/b": answered HTTP 404; look at the address`);
    expect(one.failure).toContain('1 of 3 addresses failed');
    agency.serve(HOST, JSON_REPLY);
    agency.moods.set(HOST, 'page');
    const many = await fetchSource(source({}, ['/a', '/b', '/c', '/d', '/e']), [], by);
    expect(many.failure).toContain('2 more addresses were not asked');
  });

  it('I63: asks the addresses behind some that the agency has nothing at, and tells of each', async () => {
    const order = ['/a', '/b-gone', '/c', '/d', '/e', '/f'];
    agency.moods.set(`${HOST} gone`, 'gone');
    agency.serve(HOST, (path) => (/[acd]$/.test(path) ? null : JSON_REPLY));
    const found = await fetchSource(source({}, order), [], by);
    expect(found).toMatchObject({ answered: 2 });
    expect(found.fetched.map(({ url }) => url.slice(-2))).toEqual(['/e', '/f']);
    expect(found.failure).toContain('4 of 6 addresses failed');
    expect(found.failure).not.toContain('not asked');
  });

  it('gives an agency that fails no further tries for addresses that it has nothing at', async () => {
    const order = ['/a', '/b', '/gap', '/c', '/d', '/e'];
    agency.moods.set(`${HOST} gap`, 'gone');
    agency.moods.set(HOST, 'page');
    const found = await fetchSource(source({}, order), [], by);
    expect(found.failure).toContain('2 more addresses were not asked');
  });

  it('asks nothing more of an agency that turns it away', async () => {
    agency.moods.set(HOST, 'refusing');
    await fetchSource(source({}, ['/a', '/b', '/c']), [], by);
    expect(agency.asked).toHaveLength(1);
  });

  describe('where not all could be asked', () => {
    const order = ['/a', '/b', '/c', '/d', '/e'];
    /** The last letters of what each of some steps asked, one begun where the one before was broken off. */
    async function steps(count: number): Promise<string[]> {
      let resumeAt: string | null = null;
      const asked: string[] = [];
      for (let step = 0; step < count; step += 1) {
        agency.asked.length = 0;
        ({ resumeAt } = await fetchSource(source({}, order), [], by, resumeAt));
        const letters = agency.asked.map(({ path }) => path.slice(-1));
        asked.push([...new Set(letters)].join(''));
      }
      return asked;
    }

    it('begins behind those that failed, so that dead ones in front starve nobody', async () => {
      for (const path of ['/a', '/b', '/c']) agency.moods.set(`${HOST} ${path}`, 'page');
      expect(await steps(3)).toEqual(['abc', 'deabc', 'abc']);
    });

    it('begins with the one that was turned away after others were answered', async () => {
      agency.moods.set(`${HOST} /c`, 'busy');
      expect(await steps(3)).toEqual(['abc', 'c', 'deabc']);
    });

    it('begins at the front where all was asked, and where nobody knows the place any more', async () => {
      expect(await steps(2)).toEqual(['abcde', 'abcde']);
      await fetchSource(source({}, order), [], by, `https://${HOST}/gone`);
      expect(agency.asked.at(-1)?.path).toBe('/e');
    });
  });

  it('names the entity of an address beside it, and no other', async () => {
    agency.moods.set(HOST, 'gone');
    const asks = () => [{ about: 'harbour' }, {}];
    const { failure } = await fetchSource(source({}, ['/a'], { asks }), [], by);
    expect(failure).toMatch(
      /"https:\S+\/a" \(harbour\): answered HTTP 410.*\/a": answered HTTP 410/,
    );
  });

  it('imports a whole only when every address answered, and keeps what came', async () => {
    agency.serve(HOST, (path) => (path === '/b' ? null : JSON_REPLY));
    const plan = { is_whole: true } as const;
    const part = await fetchSource(source(plan, ['/a', '/b']), [], by);
    expect(part.fetched).toEqual([]);
    expect(archive.fetches()).toMatchObject([
      { url: `https://${HOST}/a`, held: '1 of the addresses of the same whole did not answer' },
    ]);
    agency.serve(HOST, JSON_REPLY);
    clock.ms += 60_000;
    expect((await fetchSource(source(plan, ['/a', '/b']), [], by)).fetched).toHaveLength(2);
    // One part that changed is imported with the others.
    agency.serve(HOST, (path) => (path === '/b' ? { ...JSON_REPLY, body: '{}' } : JSON_REPLY));
    clock.ms += 60_000;
    const next = await fetchSource(source(plan, ['/a', '/b']), [], by);
    expect(next).toMatchObject({ changed: 1 });
    expect(next.fetched).toHaveLength(2);
  });

  it('gives all parts of a whole one time, and other answers each their own', async () => {
    const times = async (plan: Partial<SourceRow>) => {
      const { fetched } = await fetchSource(
        source({ ...perMinute(4), ...plan }, ['/a', '/b']),
        [],
        by,
      );
      return fetched.map(({ fetched_at }) => fetched_at.slice(11));
    };
    expect(await times({ is_whole: true })).toEqual(['11:00:00Z', '11:00:00Z']);
    clock.ms = Date.parse('2026-11-20T13:00:00Z');
    expect(await times({})).toEqual(['13:00:00Z', '13:00:15Z']);
  });

  describe('with a host that cannot be reached', () => {
    const GONE = 'gone.example.gov';
    /** A loopback port on which nobody listens. */
    const closed = { [GONE]: 'http://127.0.0.1:1' };
    const ask = async (addresses: readonly string[], rate = 600) => {
      await client.close();
      client = agencyClient({
        userAgent: 'signalpress/test (ops@example.org)',
        origins: { ...agency.origins([HOST]), ...closed },
        timeouts: { connect: 1000, silence: 150, total: 3000 },
        bytesMax: 8 << 20,
      });
      return fetchSource(source(perMinute(rate), addresses), [], { ...by, client });
    };

    it('asks it nothing more, and the other hosts of the source still', async () => {
      const { failure, answered } = await ask([
        `https://${GONE}/a`,
        `https://${GONE}/b`,
        `https://${HOST}/a`,
        `https://${GONE}/c`,
      ]);
      expect(failure).toContain(`https://${GONE}/a": nothing listens there (ECONNREFUSED)`);
      expect(failure).toContain('2 more addresses were not asked');
      expect(failure).not.toContain('/b');
      expect(answered).toBe(1);
    });

    it('does not wait for the pace of an agency that noticed nothing', async () => {
      await ask([`https://${GONE}/a`], 1);
      expect(clock.waits).toEqual([1500, 3000]);
      clock.waits.length = 0;
      agency.moods.set(HOST, 'down');
      await ask([`https://${HOST}/a`], 1);
      expect(clock.waits).toEqual([1500, 58_500, 3000, 57_000]);
    });
  });

  it('goes from page to page, and never round in a circle', async () => {
    const pages: Record<string, string> = { '': 'b', b: 'c/&', 'c%2F%26': 'b' };
    const nextCursor: Source['nextCursor'] = ({ note }) =>
      pages[note.url.split('page=')[1] ?? ''] ?? null;
    const paged = testRow([{ url: `https://${HOST}/a?x=1`, cursor: 'page' }]);
    const { answered } = await fetchSource(source(paged, [], { nextCursor }), [], by);
    expect(answered).toBe(3);
    const paths = ['/a?x=1', '/a?x=1&page=b', '/a?x=1&page=c%2F%26'];
    expect(agency.asked.map(({ path }) => path)).toEqual(paths);
    const plain = await fetchSource(source({}, ['/b'], { nextCursor }), [], by);
    expect(plain.answered).toBe(1);
  });

  describe('with another address in the place of one', () => {
    const [first, second] = [`https://${HOST}/a`, `https://${OTHER}/b`];
    const both = (paths = [first], ends?: string) =>
      source(
        testRow(
          paths.map((url) => [{ url }, { url: second, ...(ends === undefined ? {} : { ends }) }]),
        ),
      );
    beforeEach(() => agency.serve(OTHER, JSON_REPLY));

    it('asks it only where the first fails, and says so', async () => {
      expect(await fetchSource(both(), [], by)).toMatchObject({ failure: null, remarks: [] });
      expect(agency.asked.map(({ host }) => host)).toEqual([HOST]);
      for (const mood of ['busy', 'gone', 'page', 'down'] as const) {
        agency.moods.set(HOST, mood);
        clock.ms += 3_600_000;
        const { answered, failure, fetched, remarks } = await fetchSource(both(), [], by);
        expect({ answered, failure }).toEqual({ answered: 1, failure: null });
        expect(fetched.every(({ url }) => url === second)).toBe(true);
        expect(remarks).toEqual([expect.stringContaining('/a": answered')]);
        expect(remarks[0]).toContain('; the next address answered in its place');
      }
    });

    it('passes over an answer that cannot be read, keeps nothing of it, and says why', async () => {
      const read = source().read;
      const picky = (paths?: string[]): Source => ({
        ...both(paths),
        read: (payload) => {
          if (payload.note.url === second) return read(payload);
          throw new ImportError({ subject: payload.subject, state: 'not a list of its own' });
        },
      });
      const found = await fetchSource(picky(), [], by);
      expect(found).toMatchObject({ answered: 1, failure: null });
      expect(found.remarks[0]).toContain('not a list of its own; the next address answered');
      expect(archive.fetches().map(({ url }) => url)).toEqual([second]);
      agency.moods.set(OTHER, 'gone');
      const { failure, answered } = await fetchSource(picky(), [], by);
      expect(answered).toBe(0);
      expect(failure).toContain('not a list of its own');
      expect(failure).toContain('/b": answered HTTP 410');
    });

    it('asks a host that turned it away for nothing more', async () => {
      agency.moods.set(HOST, 'busy');
      const paths = [first, `https://${HOST}/c`, `https://${HOST}/d`];
      const found = await fetchSource(both(paths), [], by);
      expect(found).toMatchObject({ answered: 3, failure: null });
      expect(agency.asked.filter(({ host }) => host === HOST)).toHaveLength(1);
    });

    it('tells the fault of the first where both fail, or the other has ended', async () => {
      agency.moods.set(HOST, 'gone');
      agency.moods.set(OTHER, 'page');
      expect((await fetchSource(both(), [], by)).failure).toContain('/a": answered HTTP 410');
      agency.moods.delete(OTHER);
      agency.asked.length = 0;
      const ended = await fetchSource(both([first], '2026-11-01'), [], by);
      expect(ended).toMatchObject({ answered: 0, fetched: [] });
      expect(agency.asked.map(({ host }) => host)).toEqual([HOST]);
    });
  });

  it('follows a redirect within the hosts of the agency', async () => {
    agency.moods.set(HOST, 'moved');
    expect((await fetchSource(source(), [], by)).failure).toBeNull();
    expect(archive.fetches()).toMatchObject([{ url: `https://${HOST}/a` }]);
  });

  it('asks no faster where it is sent on, and never in a circle', async () => {
    agency.moods.set(HOST, 'moved');
    await fetchSource(source(perMinute(4)), [], by);
    expect([agency.asked.length, clock.waits]).toEqual([2, [15_000]]);
    agency.moods.set(HOST, 'loop');
    const { failure } = await fetchSource(source(), [], by);
    expect(agency.asked).toHaveLength(3);
    expect(failure).toContain('it redirects in a circle');
  });

  it('puts a key on the wire and nowhere else', async () => {
    const variable = 'SIGNALPRESS_TEST_KEY';
    const key = { variable, in: 'query', name: 'api_key' } as const;
    await fetchSource(source({ key }, ['/a?x=1']), [], by);
    expect(agency.asked[0]?.path).toBe(`/a?x=1&api_key=${encodeURIComponent(KEY)}`);
    const inPath = { variable, in: 'path' } as const;
    await fetchSource(source({ key: inPath }, ['/area/{key}/1']), [], by);
    expect(agency.asked[1]?.path).toBe(`/area/${encodeURIComponent(KEY)}/1`);
    const inHeader = { variable, in: 'header', name: 'X-Api-Key' } as const;
    await fetchSource(source({ key: inHeader }, ['/h']), [], by);
    expect(agency.asked[2]).toMatchObject({ path: '/h', headers: { 'x-api-key': KEY } });
    expect(agency.asked[1]?.headers['x-api-key']).toBeUndefined();
    agency.moods.set(HOST, 'redirect');
    const { failure } = await fetchSource(source({ key }, ['/b']), [], by);
    expect(failure).not.toContain('s3cret');
    const files = readdirSync(archive.folder, { recursive: true, encoding: 'utf8' });
    const texts = files.filter((name) => name.endsWith('.json'));
    expect(texts.length).toBeGreaterThan(1);
    for (const name of texts) {
      expect(readFileSync(join(archive.folder, name), 'utf8')).not.toContain('s3cret');
    }
  });

  it.each([
    ['no contact', source({ needs_contact: true }), /set SIGNALPRESS_CONTACT to mailto:/],
    ['no key', source({ key: KEY_ROW }), /needs a data key.*set SIGNALPRESS_TEST_KEY/],
    ['no key where sale is forbidden', source({ terms: FORBIDDEN }), /forbid sale.*a paid plan/],
    ['no entity', source({}, ['/a'], { asks: () => [] }), /does not know what to ask for; name/],
    ['an address that has ended', ended('2026-11-19'), /"0" has ended; see https.*its successor/],
    ['a month that has ended', ended('2026-10'), /has ended/],
    ['a value that it lacks', source({}, ['/{place}']), /an unknown place, \{place\}/],
  ])('asks nothing with %s', async (_, poorSource, reported) => {
    const poor = { ...by, contact: null, keyOf: () => undefined };
    expect((await fetchSource(poorSource, [], poor)).failure).toMatch(reported);
    expect(agency.asked).toEqual([]);
  });

  it('says that a source cannot be fetched', async () => {
    for (const row of [null, testRow([])]) {
      const outcome = await fetchSource({ ...source(), row }, [], by);
      expect(outcome.failure).toContain('import its files');
    }
  });

  it('trusts its own clock, and says that the agency has another', async () => {
    agency.moods.set(HOST, 'skewed');
    const { fetched, remarks } = await fetchSource(source(), [], by);
    expect(fetched).toMatchObject([{ fetched_at: '2026-11-20T11:00:00Z' }]);
    expect(remarks[0]).toContain('180 minutes ahead of this one');
  });

  it('knows what it asked before though the address names the time of asking, and forgets it one day', async () => {
    const asks: Source['asks'] = ({ now }) => {
      const time = new Date(now).toISOString();
      const span = { from: time.slice(0, 10), to: `${time.slice(0, 16)}Z` };
      return ['1', '2'].map((place) => ({ with: { place, ...span } }));
    };
    const timed = source({}, ['/a?place={place}&from={from}&to={to}'], { asks });
    const [first] = (await fetchSource(timed, [], by)).fetched;
    clock.ms += 3_600_000;
    const second = await fetchSource(timed, [], by);
    expect(second.fetched[0]?.after).toBe(first === undefined ? '' : notePath(first));
    expect(second.fetched[1]?.after).not.toBe(second.fetched[0]?.after);
    expect(archive.looks('test-source').size).toBe(4);
    clock.ms += 41 * 86_400_000;
    await fetchSource(timed, [], by);
    expect(archive.looks('test-source').size).toBe(2);
  });

  it('holds no more of a body of 200 MB than its limit allows', async () => {
    agency.moods.set(HOST, 'huge');
    const before = process.memoryUsage().rss;
    await fetchSource(source(), [], by);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20);
  });
});
