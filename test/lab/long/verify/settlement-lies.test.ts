import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalpressClient } from '../../../../compiler/client/signalpress-client.ts';
import { type JsonValue, parseJson } from '../../../../compiler/contract/strict-json.ts';
import { bulkSignatureCheck } from '../../../../compiler/verify/bulk-signature.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import type { Service } from '../../../../gatekeeper/answers/service.ts';
import { check } from '../../../../gatekeeper/rooms/check.ts';
import { resolve } from '../../../../gatekeeper/rooms/resolve.ts';
import { FILINGS, filingRow, filingSet, listingRow } from '../../../filing-rows.ts';
import { filingService } from '../../../gatekeeper/filing-service.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../../../verify/python-judge.ts';

afterAll(removeFolders);

type Body = Record<string, JsonValue>;

const OTHER = '0000999999';

/** The filer of the other tests with some more form 4, and a second one that filed other things. */
const MORE = Array.from({ length: 9 }, (_, at) => filingRow(30 + at, ['4', `2026-0${at + 1}-15`]));
const SECOND = [
  listingRow({ cik: OTHER, name: 'Other Corp', tickers: ['OTHR'] }),
  filingRow(70, ['10-K', '2026-03-30'], { cik: OTHER }),
  filingRow(71, ['SC 13D', '2026-03-15'], { cik: OTHER }),
];

const ASK = {
  yes: 'form=10-K&cutoff=2026-03-31',
  no: 'form=10-K&cutoff=2026-01-31&market_or_event=Will%20they%3F',
  never: 'form=SC%2013D&cutoff=2026-03-31',
  unknown: 'form=SC%2013D&cutoff=2027-03-31',
  ambiguous: 'form=10-Q&cutoff=2026-05-20',
  conflicting: 'form=20-F&cutoff=2026-05-01',
  hourless: 'form=NT%2010-K&cutoff=2026-03-02T12:00:00Z',
  item: 'form=8-K&cutoff=2026-07-02&event_class=2.02',
  noItem: 'form=8-K&cutoff=2026-07-02&event_class=1.01&source_class=sec',
  among: 'form=4&cutoff=2026-05-20T12:00:00Z',
  beyond: 'form=10-K&cutoff=2027-03-31',
  amendment: 'form=6-K/A&cutoff=2026-05-01',
} as const;
const OPERATIONS = ['/resolve', '/resolve/proposer'] as const;
const TARGETS = OPERATIONS.flatMap((path) =>
  Object.values(ASK).map((query) => `${path}?entity=EXMP&${query}`),
);

/** Repeats the request, so that nothing signed can speak of it; FORMAT.md says so. */
const NOT_COVERED = ['market_or_event'];

let service: Service;
let did: string;
const bodies = new Map<string, Body>();
beforeAll(async () => {
  const rows = [listingRow(), ...FILINGS, ...MORE, ...SECOND];
  const { data } = await compileFolder(writeSnapshots(filingSet(rows)));
  service = await compiledService(data, '2026-11-20T12:30:00Z');
  did = service.release.head.issuer_did;
  for (const target of TARGETS) bodies.set(target, await delivered(target));
});

async function delivered(target: string, by = service): Promise<Body> {
  const answered = await resolve(question(target), by);
  if (answered.kind !== 'content') throw new Error(`no content for ${target}`);
  return parseJson(answered.content.body.toString('utf8')) as Body;
}
const bodyOf = (target: string): Body => structuredClone(bodies.get(target) ?? {});

/** The command of this project. */
const own = (body: JsonValue): string =>
  verifyBody(body, { trust: [did], isSignature: bulkSignatureCheck() }).verdict;

/** `POST /verify`. */
async function posted(body: JsonValue): Promise<string> {
  const sent = Buffer.from(JSON.stringify(body));
  const answer = jsonOf(await check(question('/verify', 'application/json', sent), service));
  return String(answer.verdict ?? answer.status);
}

/** The client, which is handed this body for a payment of the target. */
async function bought(target: string, body: JsonValue): Promise<string> {
  const client = signalpressClient({
    baseUrl: 'https://example.org',
    issuer: did,
    fetch: async () => new Response(JSON.stringify(body), { status: 200 }),
  });
  const payment = {
    url: `https://example.org${target}`,
    header: 'x-payment',
    value: 'e30=',
  } as const;
  return client.redeliver(payment).then(
    ({ report }) => report?.verdict ?? 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** The second implementation; one process for all of them. */
function python(all: readonly JsonValue[]): string[] {
  const texts = all.map((body) => JSON.stringify(body));
  return pythonVerdicts(texts, [did]).map(({ verdict }) => verdict);
}

/** A body, delivered for a request. */
interface Delivery {
  readonly target: string;
  readonly body: JsonValue;
}

/** What the four judges say of each body. */
async function verdicts(deliveries: readonly Delivery[]): Promise<string[][]> {
  const second = hasPython ? python(deliveries.map(({ body }) => body)) : [];
  const stated: string[][] = [];
  for (const [at, { target, body }] of deliveries.entries()) {
    const first = [own(body), await posted(body), await bought(target, body)];
    stated.push([...first, second[at] ?? 'no python']);
  }
  return stated;
}
const all = (own: string, client: string): string[] => [
  own,
  own,
  client,
  hasPython ? own : 'no python',
];
const VERIFIED = all('verified', 'verified');
const FAILED = all('failed', 'unverified');

type Path = readonly (string | number)[];

function* leaves(value: JsonValue, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) yield path;
  else if (Array.isArray(value)) {
    if (value.length === 0) yield path;
    for (const [at, item] of value.entries()) yield* leaves(item, [...path, at]);
  } else {
    for (const [key, item] of Object.entries<JsonValue>(value)) yield* leaves(item, [...path, key]);
  }
}

/** Another value of a leaf, of its kind where that says something else. */
function other(value: JsonValue): JsonValue {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return value === null ? '2026-01-01' : ['x'];
  const at = value.search(/\d/);
  if (at < 0) return `${value}x`;
  return `${value.slice(0, at)}${(Number(value[at]) + 1) % 10}${value.slice(at + 1)}`;
}

function changed(body: Body, path: Path, value?: JsonValue): Body {
  const copy = structuredClone(body);
  const parent = path.slice(0, -1).reduce((node: unknown, key) => (node as never)[key], copy);
  const last = path.at(-1) ?? '';
  const slot = parent as Record<string | number, JsonValue>;
  slot[last] = value === undefined ? other(slot[last] as JsonValue) : value;
  return copy;
}

/**
 * Signed parts are caught by their content hash, and every-member.test.ts changes each member of them: here every
 * sixteenth leaf is changed, in each answer another one. The slower judges see the first change of each member of an
 * operation that nothing signs, every eighth further one, and every third of the signed ones.
 */
const SIGNED = /^(coverage|candidate_sources|evidence|_citation)\b/;
const CHANGE_EVERY = 16;
const SIGNED_SAMPLE_EVERY = 48;
const SAMPLE_EVERY = 8;

/** A body with one leaf changed. */
interface Lie {
  readonly target: string;
  readonly where: string;
  readonly body: Body;
  /** Whether the slower judges see it too. */
  readonly isSampled: boolean;
}

function liesAbout(target: string, met: Set<string>): Lie[] {
  const body = bodyOf(target);
  const first = TARGETS.indexOf(target) % CHANGE_EVERY;
  return [...leaves(body)].flatMap((leaf, at) => {
    const where = leaf.join('.');
    const isSigned = SIGNED.test(where);
    if (NOT_COVERED.includes(where) || (isSigned && at % CHANGE_EVERY !== first)) return [];
    const member = where.replace(/\.\d+(?=\.|$)/g, '.*');
    const isNew = !isSigned && !met.has(member);
    met.add(member);
    const every = isSigned ? SIGNED_SAMPLE_EVERY : SAMPLE_EVERY;
    const isSampled = isNew || at % every === first % every;
    return [{ target, where, body: changed(body, leaf), isSampled }];
  });
}

/** Who takes a lie for an answer. */
async function believersOf(lies: readonly Lie[]): Promise<string[]> {
  const believed: string[] = [];
  const note = (judge: string, { target, where }: Lie): void => {
    believed.push(`${judge}: ${target} ${where}`);
  };
  for (const lie of lies) {
    if (own(lie.body) === 'verified') note('command', lie);
  }
  const sampled = lies.filter((lie) => lie.isSampled);
  const second = hasPython ? python(sampled.map(({ body }) => body)) : [];
  expect(second.length).toBe(hasPython ? sampled.length : 0);
  for (const [at, lie] of sampled.entries()) {
    if ((await posted(lie.body)) === 'verified') note('service', lie);
    if ((await bought(lie.target, lie.body)) !== 'unverified') note('client', lie);
    if (second[at] === 'verified') note('python', lie);
  }
  return believed;
}

const listIn = (body: Body) =>
  body.list as { index: number; filings: JsonValue[]; beside: JsonValue[] };
const R = '/resolve?entity=EXMP&';
/** What somebody without the key can make of genuine answers. */
const LIES: readonly (readonly [string, string, (body: Body) => Body])[] = [
  [
    'a yes turned into a no',
    ASK.yes,
    (body) => ({
      ...body,
      resolution_status: 'no_authoritative_source',
      filed_by_cutoff: false,
      event_time: null,
      disclosure_time: null,
      disclosure_date: null,
      candidate_count: 0,
      candidate_sources: [],
      list: null,
      note: bodyOf(`${R}${ASK.never}`).note ?? '',
      _citation: (body.coverage as Body)._citation ?? null,
    }),
  ],
  [
    'an honest no about a form that was never filed, as the answer about 10-K',
    ASK.never,
    (body) => ({
      ...body,
      form: '10-K',
      note: String(body.note).replace('SC 13D', '10-K'),
    }),
  ],
  [
    'an honest no about a form that was never filed, as the answer about one that reads like 10-K',
    ASK.never,
    (body) => ({
      ...body,
      form: '1O-K',
      note: String(body.note).replace('SC 13D', '1O-K'),
    }),
  ],
  [
    'an honest no about one item, as the answer about any 8-K',
    ASK.noItem,
    (body) => ({
      ...body,
      event_class: null,
      note: String(body.note).replace(' with item 1.01', ''),
    }),
  ],
  [
    'a no about an earlier cutoff, as the answer about a later one',
    ASK.no,
    (body) => {
      const later = bodyOf(`${R}${ASK.yes}`);
      const { cutoff = '', cutoff_time = '' } = later;
      return {
        ...body,
        cutoff,
        cutoff_time,
        note: String(body.note).replace('2026-01-31', '2026-03-31'),
      };
    },
  ],
  [
    'the coverage of another filer',
    ASK.never,
    (body) => {
      const coverage = bodyOf(`${R}${ASK.never}`).coverage as Body;
      return { ...body, cik: OTHER, entity: 'OTHR', entity_name: 'Other Corp', coverage };
    },
  ],
  [
    'the list of another form',
    ASK.yes,
    (body) => ({
      ...body,
      list: bodyOf(`${R}${ASK.ambiguous}`).list ?? null,
    }),
  ],
  [
    'the list of the form for that of its item',
    ASK.item,
    (body) => ({ ...body, event_class: null }),
  ],
  [
    'a list without its newest filing',
    ASK.among,
    (body) => ({
      ...body,
      list: {
        ...listIn(body),
        index: listIn(body).index + 1,
        filings: listIn(body).filings.slice(1),
      },
    }),
  ],
  [
    'a list with two filings exchanged',
    ASK.among,
    (body) => ({
      ...body,
      list: { ...listIn(body), filings: listIn(body).filings.toReversed() },
    }),
  ],
  [
    'a list with a filing twice',
    ASK.among,
    (body) => ({
      ...body,
      list: {
        ...listIn(body),
        filings: [...listIn(body).filings, listIn(body).filings[0] ?? null],
      },
    }),
  ],
  [
    'a list that is moved',
    ASK.among,
    (body) => ({
      ...body,
      list: { ...listIn(body), index: 0 },
    }),
  ],
  [
    'a candidate that is dropped',
    ASK.ambiguous,
    (body) => ({
      ...body,
      candidate_count: 1,
      resolution_status: 'resolved',
      candidate_sources: (body.candidate_sources as JsonValue[]).slice(0, 1),
    }),
  ],
  [
    'a candidate twice',
    ASK.ambiguous,
    (body) => ({
      ...body,
      candidate_sources: [body.candidate_sources, body.candidate_sources].flat() as JsonValue[],
    }),
  ],
  [
    'candidates exchanged, with their citation',
    ASK.ambiguous,
    (body) => {
      const rows = (body.candidate_sources as Body[]).toReversed();
      return { ...body, candidate_sources: rows, _citation: rows[0]?._citation ?? null };
    },
  ],
  ['a member more', ASK.yes, (body) => ({ ...body, verdict: 'certain' })],
  ['another cutoff time', ASK.yes, (body) => ({ ...body, cutoff_basis: 'acceptance_time' })],
];

describe('settlement answers', () => {
  it('I53: hold as they are delivered, for all four judges', async () => {
    const stated = await verdicts(TARGETS.map((target) => ({ target, body: bodyOf(target) })));
    expect(stated.map((each, at) => [TARGETS[at], ...each])).toEqual(
      TARGETS.map((target) => [target, ...VERIFIED]),
    );
  });

  it.each(OPERATIONS)(
    'I53: %s is refused with any leaf changed, by all four judges',
    async (path) => {
      const met = new Set<string>();
      const targets = TARGETS.filter((each) => each.startsWith(`${path}?`));
      const lies = targets.flatMap((target) => liesAbout(target, met));
      expect(await believersOf(lies)).toEqual([]);
      expect(lies.filter(({ isSampled }) => isSampled).length).toBeGreaterThan(100);
      expect(met.size).toBeGreaterThan(30);
    },
    300_000,
  );

  it('I53: says in words what is not covered, and nothing that is signed depends on it', () => {
    const target = TARGETS.find((each) => each.includes('market_or_event')) ?? '';
    for (const value of ['Something else', null]) {
      const body = changed(bodyOf(target), ['market_or_event'], value);
      expect(own(body)).toBe('verified');
      const report = verifyBody(body, { trust: [did] });
      const cover = report.checks.find((each) => each.check === 'cover');
      expect(cover?.detail).toContain('"market_or_event" repeats the request');
    }
  });

  it('I53: are refused with any of the lies above', async () => {
    const lies = LIES.map(([, query, lie]) => {
      const target = `/resolve?entity=EXMP&${query}`;
      return { target, body: lie(bodyOf(target)) };
    });
    const stated = await verdicts(lies);
    expect(stated.map((each, at) => [LIES[at]?.[0], ...each])).toEqual(
      LIES.map(([name]) => [name, ...FAILED]),
    );
    expect(lies.length).toBeGreaterThan(15);
  });

  it('I53: refuses a proposer that cites another filing, another filer or none', async () => {
    const target = `/resolve/proposer?entity=EXMP&${ASK.yes}`;
    const body = bodyOf(target);
    const theirs = await delivered('/resolve/proposer?entity=OTHR&form=10-K&cutoff=2026-03-31');
    const lies: Body[] = [
      { ...body, evidence: null, _citation: (body.coverage as Body)._citation ?? null },
      { ...body, evidence: theirs.evidence ?? null, _citation: theirs._citation ?? null },
      { ...body, coverage: theirs.coverage ?? null },
      { ...body, answer: false },
      { ...body, confidence: 0 },
      { ...body, answer: null, confidence: 0 },
    ];
    const stated = await verdicts(lies.map((body) => ({ target, body })));
    expect(stated).toEqual(lies.map(() => FAILED));
  });

  it('I53: refuses parts of an older release beside those of a newer one', async () => {
    const rows = [listingRow(), ...FILINGS, ...MORE, filingRow(99, ['10-K', '2026-03-20'])];
    const { data } = await compileFolder(writeSnapshots(filingSet(rows)));
    const newer = await compiledService(data, '2026-11-20T12:30:00Z');
    const target = `/resolve?entity=EXMP&${ASK.yes}`;
    const [before, after] = [bodyOf(target), await delivered(target, newer)];
    expect([own(before), own(after)]).toEqual(['verified', 'verified']);
    const mixed = [
      { ...before, coverage: after.coverage ?? null },
      { ...after, coverage: before.coverage ?? null },
      { ...after, list: before.list ?? null },
    ];
    const stated = await verdicts(mixed.map((body) => ({ target, body })));
    expect(stated).toEqual(mixed.map(() => FAILED));
  });

  it('I53: calls an answer of an older form not covered, and the client refuses it', async () => {
    for (const target of TARGETS.filter(
      (each) => each.includes(ASK.yes) || each.includes(ASK.never),
    )) {
      const { list: _list, ...older } = bodyOf(target);
      const lies = [older, { ...older, filed_by_cutoff: false, answer: false }];
      const stated = await verdicts(lies.map((body) => ({ target, body })));
      expect([target, ...stated]).toEqual([
        target,
        ...lies.map(() => all('unsigned', 'unverified')),
      ]);
      const report = verifyBody(older, { trust: [did] });
      const cover = report.checks.find((each) => each.check === 'cover');
      expect(cover?.detail).toContain('does not follow from them');
    }
  });
});

describe('resolve checks', () => {
  let service: Service;
  beforeAll(async () => {
    service = await filingService(FILINGS);
  });

  const RESOLVE = '/resolve?entity=EXMP&form=10-Q&cutoff=2026-05-25';
  const PROPOSER = '/resolve/proposer?entity=EXMP&form=10-K&cutoff=2026-03-31';
  const NONE = '/resolve/proposer?entity=EXMP&form=SC%2013D&cutoff=2026-03-31';

  async function delivered(target: string): Promise<Record<string, JsonValue>> {
    const answered = await resolve(question(target), service);
    if (answered.kind !== 'content') throw new Error('no content');
    return parseJson(answered.content.body.toString('utf8')) as Record<string, JsonValue>;
  }

  const verdict = (body: JsonValue) =>
    verifyBody(body, { trust: [service.release.head.issuer_did] }).verdict;

  describe('settlementAnswer()', () => {
    it('accepts answers as they are delivered', async () => {
      for (const target of [RESOLVE, PROPOSER, NONE]) {
        expect(verdict(await delivered(target))).toBe('verified');
      }
    });

    it.each([
      [RESOLVE, { resolution_status: 'resolved' }],
      [RESOLVE, { filed_by_cutoff: false }],
      [RESOLVE, { filed_by_cutoff: null }],
      [RESOLVE, { disclosure_time: '2026-05-02T15:00:00Z' }],
      [RESOLVE, { disclosure_date: '2026-05-02' }],
      [RESOLVE, { event_time: '2026-05-02' }],
      [RESOLVE, { cutoff_time: '2026-05-26T04:59:59Z' }],
      [RESOLVE, { cutoff_basis: 'acceptance_time' }],
      [RESOLVE, { cutoff: '2026-04-25' }],
      [RESOLVE, { form: '10-K' }],
      [RESOLVE, { cik: '0000000001' }],
      [RESOLVE, { entity: 'OTHER' }],
      [RESOLVE, { entity_name: 'Other Corp' }],
      [RESOLVE, { note: 'nothing' }],
      [RESOLVE, { candidate_count: 1 }],
      [RESOLVE, { candidate_sources: [] }],
      [RESOLVE, { extra: 1 }],
      [PROPOSER, { answer: false }],
      [PROPOSER, { confidence: 0.5 }],
      [PROPOSER, { answer: null }],
      [PROPOSER, { timestamp: null }],
      [PROPOSER, { evidence_url: 'https://www.sec.gov/other' }],
      [PROPOSER, { source_tier: 'T2' }],
      [PROPOSER, { form: '10-Q' }],
      [NONE, { answer: true }],
      [NONE, { answer: null }],
      [NONE, { confidence: 1 }],
      [NONE, { cutoff: '2027-03-31', cutoff_time: '2027-04-01T03:59:59Z' }],
    ])('I24: refuses %s with %j', async (target, change) => {
      expect(verdict({ ...(await delivered(target)), ...change })).toBe('failed');
    });

    it('I24: refuses a candidate that was left out, changed or quoted from elsewhere', async () => {
      const body = await delivered(RESOLVE);
      const rows = body.candidate_sources as Record<string, JsonValue>[];
      const [first = {}, second = {}] = rows;
      expect(verdict({ ...body, candidate_sources: [first] })).toBe('failed');
      expect(verdict({ ...body, candidate_sources: [second, first] })).toBe('failed');
      const moved = { ...first, filing_date: '2026-05-02' };
      expect(verdict({ ...body, candidate_sources: [moved, second] })).toBe('failed');
      expect(verdict({ ...body, _citation: second._citation ?? null })).toBe('failed');
      const coverage = { ...(body.coverage as object), covered_from: '2026-01-01' };
      expect(verdict({ ...body, coverage })).toBe('failed');
    });

    it('I24: refuses a no that rests on a list which begins on a day', async () => {
      const pages = [{ from: '2010-01-01', to: '2024-01-31' }];
      const begun = await filingService(FILINGS, { from: '2024-02-01', pages });
      const trust = [begun.release.head.issuer_did];
      for (const path of ['/resolve', '/resolve/proposer']) {
        const target = `${path}?entity=EXMP&form=SC%2013D&cutoff=2026-03-31`;
        const answered = await resolve(question(target), begun);
        if (answered.kind !== 'content') throw new Error('no content');
        const body = parseJson(answered.content.body.toString('utf8')) as Record<string, JsonValue>;
        const member = path === '/resolve' ? 'filed_by_cutoff' : 'answer';
        expect(body[member]).toBeNull();
        expect(verifyBody(body, { trust }).verdict).toBe('verified');
        expect(verifyBody({ ...body, [member]: false }, { trust }).verdict).toBe('failed');
      }
    });
  });
});
