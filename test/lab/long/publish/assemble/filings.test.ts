import { afterAll, describe, expect, it } from 'vitest';
import { parseVerifyEntry, type VerifyEntry } from '../../../../../compiler/format/release.ts';
import {
  FILERS_PATH,
  filingRecordsPath,
  parseFilerLine,
} from '../../../../../compiler/products/shapes/filing-index.ts';
import { filingRowSchema } from '../../../../../compiler/products/shapes/resolve-bodies.ts';
import { runVerify } from '../../../../../compiler/verify/verify-command.ts';
import { CIK, FILINGS, filingRow, filingSet, listingRow } from '../../../../filing-rows.ts';
import { logLinesIn } from '../../../../gatekeeper/logged-service.ts';
import {
  compileFaults,
  compileFolder,
  filesBelow,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

afterAll(removeFolders);

const compiled = (files: SnapshotFiles) => compileFolder(writeSnapshots(files));
const ROW = filingRow(1, ['10-K', '2026-02-01']);
const RECORDS = filingRecordsPath(CIK, 0);
const rowsIn = (folder: string) => readJson(folder, RECORDS).rows as Record<string, unknown>[];
const rowFile = (folder: string, row: { accession: string; source: string } = ROW) =>
  filingRowSchema.parse(
    rowsIn(folder).find((one) => one.accession === row.accession && one.source === row.source),
  );

/** What the list of filers says of one. */
function filerOf(folder: string, cik = CIK) {
  const lines = String(new Map(filesBelow(folder)).get(FILERS_PATH))
    .split('\n')
    .slice(0, -1);
  const filer = lines.map(parseFilerLine).find((one) => one.cik === cik);
  if (filer === undefined) throw new Error(cik);
  return filer;
}

/** What is said of rows, sorted by their hashes: in the look-ups, and, of one that another took the place of, in the log. */
function rowEntries(folder: string): VerifyEntry[] {
  const files = [...filesBelow(folder)];
  const shards = files.filter(([path]) => path.startsWith('verify/'));
  const lines = shards.flatMap(([, bytes]) => bytes.toString().split('\n').slice(0, -1));
  const current: VerifyEntry[] = lines.map(parseVerifyEntry).filter(({ kind }) => kind === 'row');
  const known = new Set(current.map(({ record_hash }) => record_hash));
  const earlier = logLinesIn(files).flatMap(({ sequence, index, ...facts }): VerifyEntry[] => {
    if (facts.kind !== 'row' || known.has(facts.record_hash)) return [];
    return [{ state: 'superseded', file: null, ...facts }];
  });
  return [...current, ...earlier].sort(byHash);
}

const byHash = (a: VerifyEntry, b: VerifyEntry): number => (a.record_hash < b.record_hash ? -1 : 1);

function entryOf(record_hash: string, file: string | null): VerifyEntry {
  const state = file === null ? 'superseded' : 'current';
  const of = { signal_id: null, entity: CIK, observed_at: ROW.disclosure_time };
  return { record_hash, kind: 'row', state, file, ...of };
}

describe('readFilings()', () => {
  it('stores every filing and every filer, and the release verifies', async () => {
    const { folder, data, release } = await compiled(filingSet([listingRow(), ...FILINGS]));
    for (const row of FILINGS) rowFile(folder, row);
    expect(rowsIn(folder)).toHaveLength(FILINGS.length);
    expect(filerOf(folder)).toMatchObject({ covered_from: null, gaps: [] });
    expect(filerOf(folder).forms).toEqual(
      ['10-K', '10-Q', '10-Q/A', '20-F', '4', '6-K/A', '8-K', 'NT 10-K', 'SC 13G'].sort(),
    );
    const { exitCode, text } = await runVerify(data, { issuer: [release.issuer_did] });
    expect(exitCode, text).toBe(0);
  });

  it('I18: keeps the first collection of a repeat, and takes a revision of a later batch', async () => {
    const later = { collected_at: '2026-11-20T12:00:00Z' };
    const next = '2026-11-20T11Z';
    const again = { ...filingSet([listingRow(), ROW]), ...filingSet([{ ...ROW, ...later }], next) };
    const repeat = rowFile((await compiled(again)).folder);
    expect(repeat.retrieved_at).toBe(ROW.collected_at);
    const moved = { ...ROW, ...later, event_time: '2025-12-31' };
    const revised = { ...filingSet([listingRow(), ROW]), ...filingSet([moved], next) };
    const row = rowFile((await compiled(revised)).folder);
    expect([row.event_time, row.retrieved_at]).toEqual(['2025-12-31', later.collected_at]);
  });

  it('I36: finds a revised filing as superseded, and none that a repeat told again', async () => {
    const collected = (minute: number) => ({ collected_at: `2026-11-20T11:${minute}:00Z` });
    const moved = { ...ROW, ...collected(12), event_time: '2025-12-31' };
    const first = filingSet([listingRow(), ROW]);
    const revised = { ...first, ...filingSet([moved], '2026-11-20T11Z') };
    const old = rowFile((await compiled(first)).folder).record_hash;
    const { folder, data, release } = await compiled(revised);
    const now = rowFile(folder).record_hash;
    expect(rowEntries(folder)).toEqual([entryOf(old, null), entryOf(now, RECORDS)].sort(byHash));
    expect((await runVerify(data, { issuer: [release.issuer_did] })).exitCode).toBe(0);
    const back = { ...revised, ...filingSet([{ ...ROW, ...collected(57) }], '2026-11-20T12Z') };
    const again = await compiled(back);
    expect(rowEntries(again.folder)).toEqual(
      [entryOf(now, null), entryOf(old, RECORDS)].sort(byHash),
    );
    const repeat = { ...first, ...filingSet([{ ...ROW, ...collected(12) }], '2026-11-20T11Z') };
    expect(rowEntries((await compiled(repeat)).folder)).toEqual([entryOf(old, RECORDS)]);
  });

  it('keeps a known acceptance when a later list does not tell it', async () => {
    const blind = { ...ROW, disclosure_time: null, acceptance_basis: 'undetermined' };
    const files = { ...filingSet([listingRow(), ROW]), ...filingSet([blind], '2026-11-20T11Z') };
    expect(rowFile((await compiled(files)).folder).disclosure_time).toBe(ROW.disclosure_time);
  });

  it('I63: makes no time of a midnight that is stored', async () => {
    for (const disclosure_time of ['2026-01-31T00:00:00Z', '2026-01-31T05:00:00.000Z']) {
      const { folder } = await compiled(filingSet([listingRow(), { ...ROW, disclosure_time }]));
      const row = rowFile(folder);
      expect([row.disclosure_time, row.acceptance_basis]).toEqual([null, 'undetermined']);
    }
    const second = { ...ROW, disclosure_time: '2026-01-31T05:00:01Z' };
    const { folder } = await compiled(filingSet([listingRow(), second]));
    expect(rowFile(folder).disclosure_time).toBe(second.disclosure_time);
  });

  const OPEN = {
    disclosure_time: null,
    acceptance_basis: 'undetermined',
    acceptance_written: '2026-02-01T16:30:00Z',
  };
  it.each([
    ['the main list in UTC', [{ acceptance_basis: 'utc' }], '2026-02-01T16:30:00Z'],
    ['the main list in New York', [{ acceptance_basis: 'new-york' }], '2026-02-01T21:30:00Z'],
    ['a list without proof', [{ acceptance_basis: 'undetermined' }], null],
    ['a contradictory list', [{ acceptance_basis: 'contradictory' }], null],
    ['a list of another source', [{ acceptance_basis: 'utc', source: 'other-index' }], null],
    [
      'lists that contradict each other',
      [{ acceptance_basis: 'utc' }, { acceptance_basis: 'new-york' }],
      null,
    ],
  ] as const)(
    'I63: reads a time without proof as %s beside it does',
    async (_name, lists, time) => {
      const { folder } = await compiled(
        filingSet([listingRow(), ...lists.map((list) => listingRow(list)), { ...ROW, ...OPEN }]),
      );
      expect(rowFile(folder).disclosure_time).toBe(time);
      const proven = filingRow(2, ['10-Q', '2026-02-01']);
      const both = [listingRow(), listingRow({ acceptance_basis: 'new-york' }), proven];
      const contradicted = await compiled(filingSet(both));
      expect(rowFile(contradicted.folder, proven).disclosure_time).toBeNull();
    },
  );

  it('I63: reads no time after its list was collected, and refuses one beside a known acceptance', async () => {
    const late = { ...OPEN, acceptance_written: '2026-11-20T10:30:00Z' };
    const list = listingRow({ acceptance_basis: 'new-york' });
    const { folder } = await compiled(filingSet([list, { ...ROW, ...late }]));
    expect(rowFile(folder).disclosure_time).toBeNull();
    const two = { ...ROW, acceptance_written: '2026-02-01T15:00:00Z' };
    expect(await compileFaults(filingSet([listingRow(), two]))).toMatchObject([
      { field: 'acceptance_written', line: 2 },
    ]);
  });

  it('gives a ticker to the filer whose list is newest', async () => {
    const other = { cik: '0000999999', name: 'Other', collected_at: '2026-11-20T10:59:00Z' };
    const { folder } = await compiled(filingSet([listingRow(), listingRow(other)]));
    const tickers = (cik: string) => filerOf(folder, cik).tickers;
    expect([tickers(CIK), tickers('0000999999')]).toEqual([['EXMP'], []]);
  });

  it.each([
    [[], null],
    [[['2010-01-01', '2015-12-31']], '2016-01-05'],
    [[['2016-01-01', '2016-01-04']], '2010-01-01'],
    [
      [
        ['2016-01-01', '2016-01-04'],
        ['2005-01-01', '2009-12-31'],
      ],
      null,
    ],
    [[['2005-01-01', '2009-12-31']], '2016-01-05'],
  ] as const)('covers what pages %j reach without a gap: from %s', async (stored, from) => {
    const listed = [
      { from: '2010-01-01', to: '2016-01-04' },
      { from: '2005-01-01', to: '2009-12-31' },
    ];
    const more = stored.length === 0 ? {} : { from: '2016-01-05', pages: listed };
    const pages = stored.map(([first, to]) => ({
      kind: 'page',
      cik: CIK,
      collected_at: ROW.collected_at,
      source: 'sec-edgar',
      source_tier: 'T1',
      from: first === '2016-01-01' ? '2010-01-01' : first,
      to,
    }));
    const { folder } = await compiled(filingSet([listingRow(more), ...pages]));
    expect(filerOf(folder).covered_from).toBe(from);
  });

  it.each([
    [7, 7, null],
    [7, 6, '2016-01-05'],
    [6, 7, '2016-01-05'],
    [7, undefined, null],
    [undefined, 7, null],
  ])(
    'I55: takes a page of %s filings for the announced one of %s: from %s',
    async (...[held, announced, from]) => {
      const span = (count?: number) => ({
        from: '2010-01-01',
        to: '2016-01-04',
        ...(count === undefined ? {} : { count }),
      });
      const { collected_at } = ROW;
      const of = { cik: CIK, collected_at, source: 'sec-edgar', source_tier: 'T1' };
      const page = { kind: 'page', ...of, ...span(held) };
      const listing = listingRow({ from: '2016-01-05', pages: [span(announced)] });
      const { folder } = await compiled(filingSet([listing, page]));
      expect(filerOf(folder).covered_from).toBe(from);
    },
  );

  it('I37: covers what a chain of older lists reaches, each collected after the day that the next begins on', async () => {
    const list = (collected_at: string, from: string | null) => listingRow({ collected_at, from });
    const covered = async (...lists: readonly ReturnType<typeof list>[]) => {
      const sets = lists.map((row) => {
        const day = row.collected_at.slice(0, 10);
        return filingSet([row], day);
      });
      const { folder } = await compiled(Object.assign({}, ...sets));
      return filerOf(folder).covered_from;
    };
    const newest = list('2026-11-20T11:00:00Z', '2025-06-01');
    const middle = list('2025-06-10T10:00:00Z', '2024-01-01');
    const oldest = list('2024-01-10T10:00:00Z', '2022-01-01');
    expect(await covered(newest, middle, oldest)).toBe('2022-01-01');
    expect(await covered(oldest, middle, newest)).toBe('2022-01-01');
    expect(await covered(newest, oldest)).toBe('2025-06-01');
    const thatEvening = list('2025-06-02T03:59:59Z', null);
    expect(await covered(newest, thatEvening)).toBe('2025-06-01');
    expect(await covered(newest, list('2025-06-02T04:00:00Z', null))).toBe(null);
  });

  it('takes a list that begins on a day and names no page for no whole list', async () => {
    const covered = async (more: object) => {
      const { folder } = await compiled(filingSet([listingRow(more), ROW]));
      return filerOf(folder).covered_from;
    };
    expect(await covered({ from: '2025-06-01' })).toBe('2025-06-01');
    expect(await covered({ from: null })).toBe(null);
  });

  it('I55: tells the gaps of the list that speaks, and of what carries it on before it begins', async () => {
    const EARLIER = '2026-11-01';
    const gap = (year: number) => ({ from: `${year}-02-01`, to: `${year}-02-09` });
    const page = { kind: 'page', cik: CIK, source: 'sec-edgar', source_tier: 'T1' };
    const rows = [
      listingRow({ from: '2024-01-01', pages: [gap(2020)], gaps: [gap(2025)] }),
      listingRow({ collected_at: `${EARLIER}T00:00:00Z`, gaps: [gap(2023), gap(2026)] }),
      { ...page, collected_at: ROW.collected_at, ...gap(2020), gaps: [gap(2020)] },
    ];
    /** Each row in the batch of its collection. */
    const filer = async (...given: readonly object[]) => {
      const isEarlier = (row: object): boolean => JSON.stringify(row).includes(`${EARLIER}T00`);
      const set = {
        ...filingSet(given.filter((row) => !isEarlier(row))),
        ...filingSet(given.filter(isEarlier), `${EARLIER}T00Z`),
      };
      return filerOf((await compiled(set)).folder);
    };
    const { gaps } = await filer(...rows);
    expect(gaps).toEqual([gap(2020), gap(2023), gap(2025)]);
    expect((await filer(listingRow(), ...rows.slice(1, 2))).gaps).toEqual([]);
    const turned = listingRow({ gaps: [{ from: '2026-02-09', to: '2026-02-01' }] });
    expect((await compileFaults(filingSet([turned])))[0]?.message).toContain('from is after to');
  });

  it('I37: names the filer after the list of the best tier where two were collected at once', async () => {
    const other = listingRow({ source: 'other-index', source_tier: 'T2', name: 'Other Corp' });
    for (const lists of [
      [listingRow(), other],
      [other, listingRow()],
    ]) {
      const { folder } = await compiled(filingSet(lists));
      expect(filerOf(folder).name).toBe('Example Corp');
    }
  });

  it('I37: gives a ticker of two lists of one time to the first filer, whatever the order of lines', async () => {
    const other = listingRow({ cik: '0000999999', name: 'Other' });
    for (const lists of [
      [listingRow(), other],
      [other, listingRow()],
    ]) {
      const { folder } = await compiled(filingSet(lists));
      expect(filerOf(folder).tickers).toEqual(['EXMP']);
    }
  });

  it('I37: refuses other facts in a batch that repeats a filing, and keeps the hour of two tellings', async () => {
    const later = { ...ROW, collected_at: '2026-11-20T12:00:00Z' };
    const other = { ...later, event_time: '2025-12-31' };
    for (const rows of [
      [later, other],
      [other, later],
    ]) {
      const files = { ...filingSet([listingRow(), ROW]), ...filingSet(rows, '2026-11-20T11Z') };
      expect(await compileFaults(files)).toMatchObject([{ code: 'conflict', field: 'accession' }]);
    }
    const blind = { ...ROW, disclosure_time: null, acceptance_basis: 'undetermined' };
    for (const rows of [
      [ROW, blind],
      [blind, ROW],
    ]) {
      const { folder } = await compiled(filingSet([listingRow(), ...rows]));
      expect(rowFile(folder).disclosure_time).toBe(ROW.disclosure_time);
    }
  });

  it('refuses a filer without a list, a filing told twice, and a time without a basis', async () => {
    expect(await compileFaults(filingSet([ROW]))).toMatchObject([
      { code: 'bad_field', field: 'kind' },
    ]);
    const twice = [listingRow(), ROW, { ...ROW, form: '10-Q' }];
    expect(await compileFaults(filingSet(twice))).toMatchObject([{ code: 'conflict', line: 3 }]);
    const timeless = { ...ROW, disclosure_time: null };
    const [fault] = await compileFaults(filingSet([listingRow(), timeless]));
    expect(fault?.message).toContain('must be null if acceptance_basis');
  });

  it.each(['javascript:alert(1)', 'ftp://www.sec.gov/x'])(
    'refuses "%s" for the address of a filing and of a list',
    async (source_ref) => {
      for (const rows of [[listingRow({ source_ref })], [listingRow(), { ...ROW, source_ref }]]) {
        const faults = await compileFaults(filingSet(rows));
        expect(faults).toMatchObject([{ field: 'source_ref', line: rows.length }]);
      }
    },
  );

  it('refuses a row collected after the clock of the compile, and an acceptance after its list', async () => {
    const ahead = { collected_at: '2026-11-20T12:05:01Z' };
    expect(await compileFaults(filingSet([listingRow(), { ...ROW, ...ahead }]))).toMatchObject([
      { field: 'collected_at', line: 2 },
    ]);
    const allowed = { collected_at: '2026-11-20T12:05:00Z' };
    const allowedSet = filingSet([listingRow(), { ...ROW, ...allowed }], '2026-11-20T11Z');
    expect(await compileFaults(allowedSet)).toEqual([]);
    const accepted = { ...ROW, disclosure_time: '2026-11-20T11:00:01Z' };
    expect(await compileFaults(filingSet([listingRow(), accepted]))).toMatchObject([
      { field: 'disclosure_time', line: 2 },
    ]);
  });

  it('writes no preview where nothing is stored', async () => {
    const { folder } = await compiled({
      ...filingSet([]),
      '2026-11-20/crypto.spot.ndjson': `${JSON.stringify({ entity: 'btc', observed_at: '2026-11-20T10:00:00Z', collected_at: '2026-11-20T11:00:00Z', current: { price_usd: 1 }, sources: [{ name: 's', weight: 1, independent: true }], source_ref: null, source_tier: null })}\n`,
    });
    const paths = [...filesBelow(folder).keys()];
    expect(paths.filter((path) => /filing|resolve/.test(path))).toEqual([]);
  });
});
