import { describe, expect, it } from 'vitest';
import { readPayload } from '../../../../../compiler/sources/import-command.ts';
import { ImportError, type Imported } from '../../../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../../../compiler/sources/sources.ts';
import { noteOf, PLAYED, payloadText, playedPayloads } from '../../../../sources/kit/cases.ts';
import { SOIL_URL, soilFrom } from '../../../../sources/kit/recorded.ts';
import {
  currentStatements,
  falseStatements,
  filingStatements,
  type Mutated,
  mutationReport,
  type Question,
  readingStatements,
  SPOILED,
  type Statements,
} from '../../../../sources/kit/statements.ts';

type Path = readonly (string | number)[];

/** A word that no agency uses. */
const UNKNOWN = 'zzyzx';
/** Codes for "nothing there" that agencies use; each source declares its own besides. */
const SENTINELS: readonly (string | number | null)[] = ['', 'N/A', '-999999', -999999, 'M', null];
/** An entry may be about an entity of which nothing changes without it: a nested area, a warning that another one repeats. */
const HIDDEN_MAX = 2;
/** Members that say how many of something there are. */
const COUNTS: readonly string[] = ['count', 'numberReturned', 'total'];

/** One entry of a payload: the payload without it, and with each of its values in turn replaced. */
interface Entry {
  readonly without: unknown;
  readonly spoiled: Iterable<{ readonly name: string; readonly payload: unknown }>;
}

interface BlastReport {
  /** Payloads with one value replaced. */
  tried: number;
  /** Of them refused as a whole, though the entry is about some entities only. */
  readonly wholesale: string[];
  /** Statements about entities that the entry is not about, and that were there before. */
  readonly beyond: string[];
  readonly lies: string[];
}

/**
 * Puts an unknown word and every sentinel into each value of each entry of a payload. An entry touches the entities of
 * which anything else is said without it; `anywhere` names the values that say whom it is about.
 */
function blastReport(
  { source, payload, note, says, honest }: Mutated,
  anywhere: RegExp | null,
): BlastReport {
  const read = (value: unknown): Imported => {
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    const sent = { ...note, bytes: bytes.length };
    return readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' });
  };
  const statedBy = (value: unknown): Statements | string => {
    try {
      return says(read(value));
    } catch (error) {
      if (error instanceof ImportError) return error.message;
      throw error;
    }
  };
  const truth = says(read(payload));
  const report: BlastReport = { tried: 0, wholesale: [], beyond: [], lies: [] };
  // What is about one subject alone touches no other; of one entity, its signals are told apart.
  const isOfMany = new Set([...truth.keys()].map(entityOf)).size > 1;
  const aboutOf = isOfMany ? entityOf : signalOf;
  if (new Set([...truth.keys()].map(aboutOf)).size === 1) return report;
  const sentinels = [...SENTINELS, ...(sourceOf(source).sentinels ?? [])];
  for (const { without, spoiled } of entriesOf(payload, sentinels)) {
    const other = statedBy(without);
    if (typeof other === 'string') continue;
    const changes = [...truth].filter(([fact, value]) => !same(other.get(fact), value));
    const touched = new Set(changes.map(([fact]) => aboutOf(fact)));
    const rest = [...truth].filter(([fact]) => !touched.has(aboutOf(fact)));
    for (const { name, payload: mutant } of spoiled) {
      report.tried += 1;
      if (honest?.test(name) === true) continue;
      // Where it cannot be told whom an entry is about, it may be about any of those of whom nothing is said then.
      const isAnyones = anywhere?.test(name) === true;
      // Without any other subject there is nothing that a refusal could take along.
      if (rest.length === 0 && !isAnyones) continue;
      const spared = isAnyones ? [] : rest;
      judge(name, statedBy(mutant), { truth, rest: spared, report, aboutOf });
    }
  }
  return report;
}

function judge(
  name: string,
  stated: Statements | string,
  {
    truth,
    rest,
    report,
    aboutOf,
  }: {
    truth: Statements;
    rest: readonly (readonly [string, unknown])[];
    report: BlastReport;
    aboutOf: (fact: string) => string;
  },
): void {
  if (typeof stated === 'string') {
    report.wholesale.push(`${name}: ${stated}`);
    return;
  }
  report.lies.push(...falseStatements(stated, truth).map((lie) => `${name} -> ${lie}`));
  const lost = rest.filter(([fact, value]) => !same(stated.get(fact), value));
  const entities = new Set(lost.map(([fact]) => aboutOf(fact)));
  if (entities.size > HIDDEN_MAX) report.beyond.push(`${name} -> ${[...entities].join(', ')}`);
}

/** What a statement is about: an entity of a signal, or a row of a roster. */
function entityOf(fact: string): string {
  const [first = '', entity = first] = fact.split(' ');
  return entity;
}

function signalOf(fact: string): string {
  return fact.split(' ')[0] ?? '';
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function* entriesOf(payload: unknown, sentinels: readonly (string | number | null)[]) {
  if (typeof payload === 'string') yield* textEntries(payload, sentinels);
  else for (const path of listsIn(payload, [])) yield* listEntries(payload, path, sentinels);
}

/** The outermost lists of more than one object. */
function* listsIn(value: unknown, path: Path): Generator<Path> {
  if (Array.isArray(value)) {
    const objects = value.filter((one) => typeof one === 'object' && one !== null);
    if (objects.length > 1) yield path;
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, [...path, name]);
  }
}

function* listEntries(
  payload: unknown,
  path: Path,
  sentinels: readonly (string | number | null)[],
): Generator<Entry> {
  const list = at(payload, path) as readonly unknown[];
  for (const index of list.keys()) {
    const entry = [...path, index];
    yield {
      without: recounted(changed(payload, entry, undefined), list.length),
      spoiled: spoiledValues(payload, entry, sentinels),
    };
  }
}

function* spoiledValues(
  payload: unknown,
  entry: Path,
  sentinels: readonly (string | number | null)[],
) {
  for (const leaf of leaves(at(payload, entry), entry)) {
    const value = at(payload, leaf);
    // Agencies write their codes as text where values are text, and as numbers where they are numbers.
    const words = typeof value === 'string' ? [UNKNOWN] : [];
    for (const other of new Set([...words, ...sentinels])) {
      if (other === value || (other !== null && typeof other !== typeof value)) continue;
      const name = `${leaf.join('.')} = ${JSON.stringify(other)}`;
      yield { name, payload: changed(payload, leaf, other) };
    }
  }
}

function* leaves(value: unknown, path: Path): Generator<Path> {
  if (typeof value !== 'object' || value === null) yield path;
  else for (const [name, member] of Object.entries(value)) yield* leaves(member, [...path, name]);
}

/** Counts of the payload that were right before an entry went. */
function recounted(payload: unknown, before: number): unknown {
  if (Array.isArray(payload) || typeof payload !== 'object' || payload === null) return payload;
  const members = Object.entries(payload).map(([name, value]) => {
    return [
      name,
      COUNTS.includes(name) && value === before ? before - 1 : recounted(value, before),
    ];
  });
  return Object.fromEntries(members);
}

const XML_ENTRY = /<(Program|Ground_Delay|Delay|Airport)>[\s\S]*?<\/\1>/g;
const XML_LEAF = />([^<>]+)</g;

/** Entries of a document of markup, or lines of a table under its header. */
function* textEntries(
  text: string,
  sentinels: readonly (string | number | null)[],
): Generator<Entry> {
  const words = [UNKNOWN, ...new Set(sentinels.map((one) => String(one ?? '')))];
  const spots = text.startsWith('<')
    ? [...text.matchAll(XML_ENTRY)].map(({ 0: whole, index }) => ({ whole, index }))
    : linesOf(text);
  for (const { whole, index } of spots) {
    const put = (other: string) => text.slice(0, index) + other + text.slice(index + whole.length);
    const cells = text.startsWith('<')
      ? [...whole.matchAll(XML_LEAF)]
      : [...whole.matchAll(/"[^"\n]*"|[^,\n]+/g)];
    const spoiled = cells.flatMap((cell) => {
      const value = cell[1] ?? cell[0];
      const from = cell.index + cell[0].indexOf(value);
      return words.map((word) => ({
        name: `"${whole.slice(Math.max(0, from - 24), from)}" = ${JSON.stringify(word)}`,
        payload: put(whole.slice(0, from) + word + whole.slice(from + value.length)),
      }));
    });
    yield { without: withoutEmpty(put('')), spoiled };
  }
}

/** A document without the lists that have lost their only entry. */
function withoutEmpty(text: string): string {
  return text.replaceAll(/<Delay_type>[\s\S]*?<\/Delay_type>/g, (kind) =>
    /<ARPT>/.test(kind) || !/<ARPT>/.test(text) ? kind : '',
  );
}

function linesOf(text: string): { whole: string; index: number }[] {
  let index = 0;
  const lines = text.split('\n').map((line) => {
    const spot = { whole: `${line}\n`, index };
    index += line.length + 1;
    return spot;
  });
  return lines.slice(1).filter(({ whole }) => whole.includes(','));
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], value);
}

/** A copy with another value at one place; undefined takes the entry away. */
function changed(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  if (name === undefined) return to;
  if (Array.isArray(value)) {
    const place = Number(name);
    if (rest.length === 0 && to === undefined) return value.filter((_, index) => index !== place);
    return value.map((item, index) => (index === place ? changed(item, rest, to) : item));
  }
  const members = value as Record<string, unknown>;
  return { ...members, [String(name)]: changed(members[String(name)], rest, to) };
}

const REPORTS = SPOILED.map(({ name, mutated, anywhere }) => {
  let report: ReturnType<typeof blastReport> | undefined;
  // Each kind is spoiled and imported in hundreds of ways, once.
  const made = () => {
    report ??= blastReport(mutated, anywhere);
    return report;
  };
  return { name, source: mutated.source, made };
});

describe('an entry with one value that cannot be read', () => {
  it.each(REPORTS)('I63: touches only what it is about in $name', ({ made }) => {
    const { wholesale, beyond, lies } = made();
    expect({ wholesale, beyond, lies }).toEqual({ wholesale: [], beyond: [], lies: [] });
  });

  it('I63: was tried in the lists of many sources', () => {
    const tried = REPORTS.filter(({ made }) => made().tried > 20).map(({ source }) => source);
    expect(new Set(tried).size).toBeGreaterThanOrEqual(9);
  });
});

describe('unreadable', () => {
  const at = (url: string, fetched_at = '2026-11-20T11:05:00Z') => ({
    url,
    fetched_at,
    http_status: 200,
  });

  type Row = readonly [form: string, filed: string, accepted: string, items?: string];
  const columns = (year: string, rows: readonly Row[]) => ({
    accessionNumber: rows.map(
      (_, index) => `0000123456-${year}-${String(index + 1).padStart(6, '0')}`,
    ),
    filingDate: rows.map(([, filed]) => filed),
    reportDate: rows.map(([, filed]) => filed),
    acceptanceDateTime: rows.map(([, , accepted]) => accepted),
    form: rows.map(([form]) => form),
    items: rows.map((row) => row[3] ?? ''),
    primaryDocument: rows.map(() => 'a.htm'),
  });
  const PAGE = JSON.parse(payloadText('sec-edgar', 'an older page of filings'));
  /** As many rows as a list has before it leaves older ones to pages. */
  const MANY: readonly Row[] = Array.from({ length: 997 }, (_, index) => {
    const day = new Date(Date.parse('2026-02-11') - Math.floor(index / 4) * 86_400_000);
    const filed = day.toISOString().slice(0, 10);
    return ['424B2', filed, `${filed}T21:00:00.000Z`];
  });
  const LIST = {
    cik: '0000123456',
    name: 'Example Corp',
    tickers: ['EXMP'],
    filings: {
      recent: columns('26', [
        ['8-K', '2026-11-03', '2026-11-03T23:30:00.000Z', '2.02,9.01'],
        ['NT 10-Q', '2026-08-10', '2026-08-10T21:00:00.000Z'],
        ['10-K', '2026-02-12', '2026-02-13T00:30:00.000Z'],
        ...MANY,
      ]),
      files: [
        {
          name: 'CIK0000123456-submissions-001.json',
          filingCount: 2,
          filingFrom: '2019-05-02',
          filingTo: '2020-02-12',
        },
      ],
    },
  };
  const LIST_NOTE = at('https://data.sec.gov/submissions/CIK0000123456.json');
  const PAGE_NOTE = at('https://data.sec.gov/submissions/CIK0000123456-submissions-001.json');

  /** Of every kind, on every side of every filing. */
  const QUESTIONS: readonly Question[] = [
    '2018-12-31',
    '2019-12-31',
    '2020-06-30',
    '2026-02-12',
    '2026-02-12T23:59:00Z',
    '2026-06-30',
    '2026-11-03T23:00:00Z',
    '2026-11-10',
    '2026-12-31',
  ].flatMap((cutoff) => [
    ...['10-K', '10-Q', '8-K', 'NT 10-Q', '4'].map((form) => ({ form, eventClass: null, cutoff })),
    ...['2.02', '5.02', '1.01'].map((eventClass) => ({ form: '8-K', eventClass, cutoff })),
  ]);

  const imported = (payload: unknown, note: typeof LIST_NOTE) => {
    const bytes = Buffer.from(JSON.stringify(payload));
    return readPayload(sourceOf('sec-edgar'), { bytes, note, subject: 'payload' });
  };

  const KINDS: Readonly<Record<string, Mutated>> = {
    ...Object.fromEntries(SPOILED.map(({ name, mutated }) => [name, mutated])),
    'soil of a model': {
      source: 'open-meteo-soil-moisture',
      payload: soilFrom(2015),
      note: at(SOIL_URL),
      says: readingStatements,
      // A day without a value leaves its year out.
      honest: /cm_mean\.\d+ = null$/,
    },
    'a list of filings': {
      source: 'sec-edgar',
      payload: LIST,
      note: LIST_NOTE,
      says: (list) => filingStatements([list, imported(PAGE, PAGE_NOTE)], QUESTIONS),
    },
    'an older page of filings': {
      source: 'sec-edgar',
      payload: PAGE,
      note: PAGE_NOTE,
      says: (page) => filingStatements([imported(LIST, LIST_NOTE), page], QUESTIONS),
    },
  };

  /** Each kind is changed and imported in hundreds of ways, once. */
  const judged = new Map<Mutated, ReturnType<typeof mutationReport>>();
  function reportOf(kind: Mutated): ReturnType<typeof mutationReport> {
    const report = judged.get(kind) ?? mutationReport(kind);
    judged.set(kind, report);
    return report;
  }

  describe('a payload with one thing wrong in it', () => {
    it.each(Object.entries(KINDS))('I55: makes no false statement of %s', (_name, kind) => {
      const { lies, refused, read, weakened, statements } = reportOf(kind);
      expect(lies).toEqual([]);
      // Without these nothing was tried; the smallest payload has one reading and six members.
      expect(statements).toBeGreaterThan(0);
      expect(refused + weakened).toBeGreaterThan(20);
      expect(read).toBeGreaterThan(5);
    });

    it.each(Object.entries(KINDS))(
      'says the same of %s behind a byte order mark',
      (_name, kind) => {
        const { payload, note, source, says } = kind;
        const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
        const saidOf = (mark: string) => {
          const bytes = Buffer.from(`${mark}${text}`);
          const sent = { ...note, bytes: bytes.length };
          return says(readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' }));
        };
        expect(saidOf('\ufeff')).toEqual(saidOf(''));
      },
    );

    it('looks past one byte order mark, and at everything behind it as before', () => {
      const text = payloadText('usgs-earthquakes', 'a feed of quakes');
      const { note } = KINDS['a feed of quakes'] ?? { note: LIST_NOTE };
      const read = (source: string, bytes: Buffer) =>
        readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
      const quakes = (given: string) => read('usgs-earthquakes', Buffer.from(given));
      expect(quakes(`\ufeff${text}`).readings.size).toBe(3);
      expect(() => quakes(`\ufeff\ufeff${text}`)).toThrow('a byte order mark');
      expect(() => quakes(`{"a":1}\ufeff`)).toThrow('not whole JSON');
      expect(() => quakes('\ufeff<html></html>')).toThrow('an HTML or XML page');
      expect(() => quakes('\ufeff ')).toThrow('the payload is empty');
      expect(() => quakes('\ufeff<?xml version="1.0"?><pager></pager>')).toThrow('a loss estimate');
      const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
      expect(() => read('usgs-earthquakes', wide)).toThrow('it is not UTF-8');
      const statistics = Buffer.from('\ufeff# US Geological Survey\n# USGS Daily Statistics\n');
      expect(() => read('usgs-nwis', statistics)).toThrow('percentiles of the days');
    });

    it('is refused or weakened in well over a thousand ways', () => {
      const reports = Object.values(KINDS).map(reportOf);
      const all = reports.reduce((sum, { refused, read }) => sum + refused + read, 0);
      expect(all).toBeGreaterThan(1000);
    });

    it('says of the whole lists both that forms were filed and that they were not', () => {
      const says = filingStatements(
        [imported(LIST, LIST_NOTE), imported(PAGE, PAGE_NOTE)],
        QUESTIONS,
      );
      expect(says.get('10-K  until 2018-12-31')).toBe(false);
      expect(says.get('4  until 2026-06-30')).toBe(false);
      expect(says.get('8-K 5.02 until 2019-12-31')).toBe(true);
      expect(says.get('8-K 1.01 until 2026-11-10')).toBe(false);
      expect(says.get('10-K  until 2026-12-31')).toBe(true);
      expect(says.get('filing.material-events filings_8k_30d_count')).toBe(1);
    });
  });

  /** A text with one line less, twice or after the next one, and a text that is cut off. */
  function* mutants(text: string): Generator<readonly [name: string, text: string]> {
    const lines = text.split('\n');
    for (const [at, line] of lines.entries()) {
      yield [`line ${at} absent`, lines.toSpliced(at, 1).join('\n')];
      yield [`line ${at} twice`, lines.toSpliced(at, 0, line).join('\n')];
      yield [
        `line ${at} after the next`,
        lines.toSpliced(at, 2, lines[at + 1] ?? '', line).join('\n'),
      ];
    }
    for (let end = 0; end < text.length; end += 23) {
      yield [`cut off at ${end}`, text.slice(0, end)];
      yield [`cut off at ${end}, with a page of markup`, `${text.slice(0, end)}<html></html>`];
    }
  }

  const PRODUCTS = PLAYED.flatMap((source) =>
    playedPayloads(source).flatMap(({ name, heads, text }) =>
      heads.spoil === 'lines' ? [{ name, source, note: noteOf(heads, text.length), text }] : [],
    ),
  );

  describe.each(PRODUCTS)('$name with a line in the wrong place', ({ source, note, text }) => {
    const says = (written: string) => {
      try {
        const payload = { bytes: Buffer.from(written), note, subject: 'payload' };
        return currentStatements(readPayload(sourceOf(source), payload));
      } catch (error) {
        if (error instanceof ImportError) return null;
        throw error;
      }
    };

    it('I55: makes no false statement', () => {
      const truth = says(text) ?? new Map();
      const stated = [...mutants(text)].map(([name, written]) => ({ name, said: says(written) }));
      const lies = stated.flatMap(({ name, said }) =>
        falseStatements(said ?? new Map(), truth).map((lie) => `${name} -> ${lie}`),
      );
      expect(lies).toEqual([]);
      expect(truth.size).toBeGreaterThan(3);
      expect(stated.filter(({ said }) => said === null).length).toBeGreaterThan(20);
      expect(stated.filter(({ said }) => said !== null).length).toBeGreaterThan(20);
    });
  });

  describe('falseStatements()', () => {
    it('finds what differs and what is new, and lets silence be', () => {
      const truth = new Map<string, unknown>([
        ['a', 1],
        ['b', false],
      ]);
      expect(falseStatements(new Map([['a', 1]]), truth)).toEqual([]);
      expect(falseStatements(new Map([['a', null]]), truth)).toEqual([]);
      expect(falseStatements(new Map([['a', 2]]), truth)).toEqual(['a: 2, not 1']);
      expect(falseStatements(new Map([['c', 0]]), truth)).toEqual(['c: 0, not undefined']);
      expect(falseStatements(new Map([['b', 0]]), truth)).toEqual(['b: 0, not false']);
    });
  });
});
