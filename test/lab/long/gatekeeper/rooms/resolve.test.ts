import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type JsonValue, parseJson } from '../../../../../compiler/format/strict-json.ts';
import {
  proposerBodySchema,
  resolveBodySchema,
} from '../../../../../compiler/products/shapes/resolve-bodies.ts';
import { importDisk, runImport } from '../../../../../compiler/sources/import-command.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import type { Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import { resolve } from '../../../../../gatekeeper/rooms/resolve.ts';
import { FILE_COST } from '../../../../../gatekeeper/wire/cost.ts';
import { CIK, FILINGS, filingRow } from '../../../../filing-rows.ts';
import {
  compiledService,
  FILING_NOW,
  filingData,
  filingService,
  jsonOf,
  question,
} from '../../../../gatekeeper/tiny-service.ts';
import { compileFolder, makeFolder, removeFolders } from '../../../../snapshot-folder.ts';
import { PAYLOADS } from '../../../../sources/kit/recorded.ts';

let data: string;
let service: Service;
beforeAll(async () => {
  data = await filingData(FILINGS);
  service = await compiledService(data, FILING_NOW);
});
afterAll(removeFolders);

type Query = Readonly<Record<string, string>>;
const target = (path: string, query: Query) => `${path}?${new URLSearchParams(query)}`;
const base = { entity: 'EXMP', form: '10-K', cutoff: '2026-03-31' };

async function asked(query: Query, path = '/resolve'): Promise<JsonValue> {
  const answered = await resolve(question(target(path, { ...base, ...query })), service);
  if (answered.kind !== 'content') return jsonOf(answered) as JsonValue;
  return parseJson(answered.content.body.toString('utf8'));
}

const CASES: readonly (readonly [Query, string, boolean | null, string | null])[] = [
  [{}, 'resolved', true, '000001'],
  [{ cutoff: '2026-01-31' }, 'resolved', false, '000001'],
  [{ cutoff: '2026-02-01T15:00:00Z' }, 'resolved', true, '000001'],
  [{ cutoff: '2026-02-01T14:59:59Z' }, 'resolved', false, '000001'],
  [{ cutoff: '2030-01-01' }, 'no_authoritative_source', null, null],
  [{ cutoff: '2026-11-19' }, 'resolved', true, '000001'],
  [{ cutoff: '2026-11-20' }, 'no_authoritative_source', null, null],
  [{ cutoff: '2026-11-20T10:59:59Z' }, 'resolved', true, '000001'],
  [{ cutoff: '2026-11-20T11:00:00Z' }, 'no_authoritative_source', null, null],
  [{ form: '10-Q', cutoff: '2026-05-10' }, 'resolved', true, '000002'],
  [{ form: '10-Q', cutoff: '2026-05-20' }, 'ambiguous', true, '000002'],
  [{ form: '10-Q/A', cutoff: '2026-05-20' }, 'resolved', true, '000003'],
  [{ form: '8-K', cutoff: '2026-07-02' }, 'resolved', true, '000005'],
  [{ form: '8-K', cutoff: '2026-07-02', event_class: '2.02' }, 'resolved', true, '000004'],
  [
    { form: '8-K', cutoff: '2026-07-02', event_class: '1.01' },
    'no_authoritative_source',
    false,
    null,
  ],
  [{ form: '4', cutoff: '2026-08-03' }, 'ambiguous', true, '000007'],
  [{ form: 'SC 13G' }, 'resolved', true, '000009'],
  [{ form: 'SCHEDULE 13G', cutoff: '2025-01-01' }, 'resolved', true, '000008'],
  [{ form: 'NT 10-K', cutoff: '2026-03-02T12:00:00Z' }, 'ambiguous', null, '000010'],
  [{ form: 'nt 10-k', cutoff: '2026-03-02' }, 'resolved', true, '000010'],
  [{ form: '20-F', cutoff: '2026-05-01' }, 'conflicting', null, '000011'],
  [{ form: '6-K', cutoff: '2026-05-01' }, 'ambiguous', null, '000012'],
  [{ form: 'SC 13D' }, 'no_authoritative_source', false, null],
  [{ form: 'SC 13D', cutoff: '2026-12-01' }, 'no_authoritative_source', null, null],
];

describe('resolve()', () => {
  it.each(CASES)(
    'answers %j with %s, %s, from filing %s',
    async (...[query, status, filed, serial]) => {
      const body = resolveBodySchema.parse(await asked(query));
      expect([body.resolution_status, body.filed_by_cutoff]).toEqual([status, filed]);
      const [selected] = body.candidate_sources;
      expect(selected?.accession.slice(-6) ?? null).toBe(serial);
      expect(body.disclosure_time).toBe(selected?.disclosure_time ?? null);
      expect(body.event_time).toBe(selected?.event_time ?? null);
    },
  );

  it.each(CASES)(
    'answers a proposer about %j with %s, %s',
    async (...[query, status, filed, serial]) => {
      const body = proposerBodySchema.parse(await asked(query, '/resolve/proposer'));
      expect(body.answer).toBe(filed);
      expect(body.confidence).toBe(status === 'resolved' ? 1 : 0);
      const cited = body.evidence;
      expect(cited?.accession.slice(-6) ?? null).toBe(serial);
      expect(body.evidence_url).toBe(cited?.source_ref ?? null);
      expect(body.timestamp).toBe(cited?.disclosure_time ?? null);
    },
  );

  it.each(['https://example.org/a?"evidence_url":null\\', null])(
    'gives a proposer the address %s as its evidence has it',
    async (source_ref) => {
      const odd = await filingService([filingRow(99, ['10-K', '2026-02-01'], { source_ref })]);
      const answered = await resolve(question(target('/resolve/proposer', base)), odd);
      if (answered.kind !== 'content') throw new Error('no answer');
      const body = parseJson(answered.content.body.toString('utf8'));
      expect(proposerBodySchema.parse(body).evidence_url).toBe(source_ref);
      const report = verifyBody(body, { trust: [odd.release.head.issuer_did] });
      expect(report.verdict).toBe('verified');
    },
  );

  it.each(CASES)('gives %j in a body that verifies offline', async (query) => {
    const trust = [service.release.head.issuer_did];
    for (const path of ['/resolve', '/resolve/proposer']) {
      const report = verifyBody(await asked(query, path), { trust });
      expect(report.checks.filter((check) => check.status === 'fail')).toEqual([]);
      expect(report.verdict).toBe('verified');
    }
  });

  it.each(['EXMP', 'exmp', '123456', CIK, `CIK${CIK}`])(
    'knows the filer as "%s"',
    async (entity) => {
      const body = resolveBodySchema.parse(await asked({ entity }));
      expect([body.entity, body.tickers]).toEqual([CIK, ['EXMP']]);
    },
  );

  it('I53: sells nothing about an item that is none, but reads like one', async () => {
    const filed = { ...base, form: '8-K', cutoff: '2026-07-02' };
    const kinds = ['2.02', '02.02'].map(async (event_class) => {
      const answered = await resolve(
        question(target('/resolve', { ...filed, event_class })),
        service,
      );
      return answered.kind;
    });
    expect(await Promise.all(kinds)).toEqual(['content', 'reply']);
  });

  it('takes issuer for entity, as_of for the cutoff of a proposer, and echoes text verbatim', async () => {
    const text = 'Will "EXMP" file?  ünïcode & \u{1f4c4}';
    const query = { issuer: 'exmp', form: '10-K', as_of: '2026-03-31', market_or_event: text };
    const answered = await resolve(question(target('/resolve/proposer', query)), service);
    const body = proposerBodySchema.parse(jsonOf(answered));
    expect([body.answer, body.market_or_event, body.cutoff_time]).toEqual([
      true,
      text,
      '2026-04-01T03:59:59Z',
    ]);
  });

  it.each([{ entity: 'NOBODY' }, { entity: '999' }, { form: '10-Z' }, { form: '<script>' }])(
    'has nothing to sell about %j',
    async (query) => {
      expect(await asked(query)).toEqual({ miss: true });
    },
  );

  it.each([
    { cutoff: 'soon' },
    { cutoff: '2026-02-30' },
    { cutoff: '2026-03-31T12:00:00' },
    { event_class: '2.02' },
    { form: '8-K', event_class: 'earnings' },
    { market_or_event: 'a\0b' },
  ])('refuses %j before anybody pays, with an example that answers', async (query) => {
    const body = (await asked(query)) as Record<string, string>;
    expect(body).toMatchObject({ status: 422, no_charge: true, miss: 'illegal_value' });
    const example = await resolve(question(body.example_request ?? ''), service);
    expect(example.kind).toBe('content');
    expect(body.preview).toBe('/resolve/preview');
  });

  it('lists at most ten filings and says how many there are', async () => {
    const many = Array.from({ length: 14 }, (_, at) => filingRow(at + 1, ['4', '2026-08-03']));
    const crowded = await filingService(many);
    const query = target('/resolve', { ...base, form: '4', cutoff: '2026-09-01' });
    const answered = await resolve(question(query), crowded);
    const body = resolveBodySchema.parse(jsonOf(answered));
    expect([body.candidate_sources.length, body.candidate_count]).toEqual([10, 14]);
    expect(body.resolution_status).toBe('ambiguous');
    const trust = [crowded.release.head.issuer_did];
    expect(verifyBody(jsonOf(answered) as JsonValue, { trust }).verdict).toBe('verified');
  });
});

describe('resolve() before anybody pays', () => {
  const query = target('/resolve', { ...base, form: '6-K', cutoff: '2026-05-01' });

  it('I54: costs the parsing of an index, also where only the price is asked, and once', async () => {
    for (const isProbe of [true, false]) {
      const fresh = await compiledService(data, FILING_NOW);
      const units: number[] = [];
      const one = { ...question(query), isProbe, spend: (more: number) => units.push(more) };
      expect((await resolve(one, fresh)).kind).toBe('content');
      const first = units.splice(0);
      expect(first.filter((more) => more === FILE_COST).length).toBeGreaterThan(0);
      await resolve(one, fresh);
      expect(units.length).toBeLessThan(first.length);
      if (isProbe) expect(units).toEqual([]);
    }
  });

  it('I54: reads the answer when it is sold, and nothing before', async () => {
    const reads = async (isProbe: boolean): Promise<number> => {
      const body = vi.spyOn(service.release, 'body');
      const answered = await resolve({ ...question(query), isProbe }, service);
      expect(answered.kind).toBe('content');
      const read = body.mock.calls.length;
      body.mockRestore();
      return read;
    };
    await reads(true);
    expect(await reads(true)).toBe(0);
    expect(await reads(false)).toBe(1);
  });
});

describe.each(PAYLOADS)('resolve() over recorded answers of the SEC: $name', ({ recordedFile }) => {
  const FETCHED = '2026-02-03T12:07:02Z';
  const LOCAL = 'submissions_TSLA_2022-11-30.json';
  const UTC = 'submissions_TSLA_2026-02-03.json';

  const made = new Map<string, Promise<Service>>();
  const tesla = (name: string, fetchedAt: string): Promise<Service> => {
    const known = made.get(name) ?? compiledTesla(name, fetchedAt);
    made.set(name, known);
    return known;
  };
  async function compiledTesla(name: string, fetchedAt: string): Promise<Service> {
    const out = join(makeFolder(), 'snapshots');
    const options = {
      source: 'sec-edgar',
      file: recordedFile(`sec-edgar/${name}`),
      fetchedAt,
      out,
    } as const;
    runImport(options, importDisk);
    return compiledService((await compileFolder(out)).data, '2026-11-20T12:30:00Z');
  }

  it('tells a filing day from the evening before, on which the filing was accepted', async () => {
    const by = await tesla(UTC, FETCHED);
    const selected = async (cutoff: string) => {
      const query = target('/resolve', { entity: 'tsla', form: '10-K', cutoff });
      const body = resolveBodySchema.parse(jsonOf(await resolve(question(query), by)));
      return [body.disclosure_date, body.disclosure_time];
    };
    const filed = ['2026-01-29', '2026-01-29T01:55:03Z'];
    expect(await selected('2026-01-29')).toEqual(filed);
    expect(await selected('2026-01-28')).not.toEqual(filed);
    expect(await selected('2026-01-28T20:55:03-05:00')).toEqual(filed);
    expect(await selected('2026-01-28T20:55:02-05:00')).not.toEqual(filed);
  });

  it.each(['S-4', '424B3', 'S-3ASR', '425'])(
    'does not deny the %s that stands on an older page than the list',
    async (form) => {
      const by = await tesla(UTC, FETCHED);
      const query = target('/resolve', { entity: 'TSLA', form, cutoff: '2018-06-01' });
      const body = resolveBodySchema.parse(jsonOf(await resolve(question(query), by)));
      expect([body.resolution_status, body.filed_by_cutoff]).toEqual([
        'no_authoritative_source',
        null,
      ]);
    },
  );

  it('tells the same acceptance whichever clock the answer of the source held', async () => {
    const query = target('/resolve', { entity: 'TSLA', form: '8-K', cutoff: '2022-10-31' });
    const times = [];
    for (const [name, fetched] of [
      [LOCAL, '2022-12-01T00:00:00Z'],
      [UTC, FETCHED],
    ] as const) {
      const by = await tesla(name, fetched);
      const body = resolveBodySchema.parse(jsonOf(await resolve(question(query), by)));
      const [row] = body.candidate_sources;
      expect(row?.acceptance_basis).toBe(name === LOCAL ? 'new-york' : 'utc');
      times.push(body.disclosure_time);
    }
    expect(times).toEqual(['2022-10-19T21:15:46Z', '2022-10-19T21:15:46Z']);
  });
});

describe('resolve() of a filer whose older page holds midnights', () => {
  type Listed = readonly [form: string, filed: string, accepted: string];
  const columns = (rows: readonly Listed[], year: number) => ({
    accessionNumber: rows.map((_, at) => `0000123456-${year}-00000${at + 1}`),
    filingDate: rows.map(([, filed]) => filed),
    reportDate: rows.map(() => ''),
    acceptanceDateTime: rows.map(([, , accepted]) => accepted),
    form: rows.map(([form]) => form),
    items: rows.map(() => ''),
    primaryDocument: rows.map(() => 'a.htm'),
  });
  const OLD: readonly Listed[] = [
    ['10-Q', '2002-08-09', '2002-08-09T16:45:10.000Z'],
    ['10-K', '2002-03-29', '2002-03-29T17:20:00.000Z'],
    ['S-8', '2001-06-01', '2001-06-01T00:00:00.000Z'],
    ['S-3', '2001-03-30', '2001-03-30T00:00:00.000Z'],
  ];
  const MAIN = [['4', '2026-03-02', '2026-03-02T20:30:00.000Z']] as const;
  const PROOF = [['8-K', '2026-03-02', '2026-03-02T07:45:42.000Z']] as const;

  async function shop(main: readonly Listed[]): Promise<Service> {
    const out = makeFolder();
    const list = columns(main, 26);
    list.items = main.map(([form]) => (form === '8-K' ? '2.02' : ''));
    const files = [
      {
        name: 'CIK0000123456-submissions-001.json',
        filingCount: OLD.length,
        filingFrom: '2001-03-30',
        filingTo: '2002-08-09',
      },
    ];
    const filings = { recent: list, files };
    const payloads = {
      'CIK0000123456-submissions-001': columns(OLD, 10),
      CIK0000123456: { cik: '123456', name: 'Example Corp', tickers: ['EXMP'], filings },
    };
    for (const [name, payload] of Object.entries(payloads)) {
      const file = join(out, `${name}.json`);
      const note = join(out, `${name}.note.json`);
      const url = `https://data.sec.gov/submissions/${name}.json`;
      writeFileSync(file, JSON.stringify(payload));
      writeFileSync(
        note,
        JSON.stringify({ url, fetched_at: '2026-11-20T11:00:00Z', http_status: 200 }),
      );
      const snapshots = join(out, 'snapshots');
      runImport({ source: 'sec-edgar', file, note, out: snapshots }, importDisk);
    }
    return compiledService((await compileFolder(join(out, 'snapshots'))).data, FILING_NOW);
  }

  /** The answers to a form at cutoffs, each of which also verifies offline. */
  async function answers(by: Service, form: string, cutoffs: readonly string[]) {
    const found = [];
    for (const cutoff of cutoffs) {
      const query = target('/resolve', { entity: 'EXMP', form, cutoff });
      const body = jsonOf(await resolve(question(query), by));
      const { resolution_status, filed_by_cutoff, disclosure_time, note } =
        resolveBodySchema.parse(body);
      const trust = [by.release.head.issuer_did];
      expect(verifyBody(body as JsonValue, { trust }).verdict).toBe('verified');
      found.push({ resolution_status, filed_by_cutoff, disclosure_time, note });
    }
    return found;
  }
  const open = { resolution_status: 'ambiguous', filed_by_cutoff: null, disclosure_time: null };
  const filed = { resolution_status: 'resolved', filed_by_cutoff: true };

  it('I63: answers by the filing day where that decides it, and leaves the hour of a midnight open', async () => {
    const by = await shop([...MAIN, ...PROOF]);
    const cutoffs = ['2001-03-29', '2001-03-30T12:00:00Z', '2001-03-30', '2001-04-01T12:00:00Z'];
    const [before, within, day, after] = await answers(by, 'S-3', cutoffs);
    expect(before).toMatchObject({ resolution_status: 'resolved', filed_by_cutoff: false });
    expect(within).toMatchObject(open);
    expect(within?.note).toContain('of which the hour is not known');
    expect(day).toMatchObject({ ...filed, disclosure_time: null });
    expect(after).toMatchObject({ ...filed, disclosure_time: null });
  });

  it('I63: reads the times of the page by the clock that the main list proves', async () => {
    const by = await shop([...MAIN, ...PROOF]);
    const cutoffs = ['2002-08-09T20:45:09Z', '2002-08-09T20:45:10Z'];
    const accepted = '2002-08-09T20:45:10Z';
    expect(await answers(by, '10-Q', cutoffs)).toMatchObject([
      { resolution_status: 'resolved', filed_by_cutoff: false, disclosure_time: accepted },
      { ...filed, disclosure_time: accepted },
    ]);
  });

  it.each([
    ['nothing proves the clock', MAIN],
    [
      'the main list contradicts itself',
      [...MAIN, ...PROOF, ['4', '2026-03-03', '2026-03-03T02:30:00Z']],
    ],
  ] as const)('I63: publishes no time where %s', async (_name, main) => {
    const by = await shop(main as readonly Listed[]);
    expect(await answers(by, '10-Q', ['2002-08-09T20:45:10Z'])).toMatchObject([open]);
    expect(await answers(by, '4', ['2026-03-31'])).toMatchObject([
      { filed_by_cutoff: true, disclosure_time: null },
    ]);
  });
});
