import {
  FILING_COLLECTION,
  FILING_CORE_FIELDS,
  formFamily,
  isAmendment,
} from '../../contract/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  filerPath,
  filingListPath,
  filingPath,
  formatFilerLine,
  formatFilingLine,
} from '../../contract/filing-index.ts';
import { HASH_CORE_VERSION } from '../../contract/record-hash.ts';
import type { FilerCoverage, FilingRow } from '../../contract/resolve-bodies.ts';
import type { StoredFiling, StoredListing } from '../intake/filing-row.ts';
import type { Press } from '../publish/press.ts';
import type { Statement } from '../seal/sealer.ts';
import { writeFilingPreviews } from './filing-previews.ts';

/** One listing of a filing, as it counts. */
export interface KeptFiling {
  readonly row: StoredFiling;
  /** Write batch that the filing first came with as it is. */
  readonly batch: string;
}

/** A filer with its filings, newest first. */
export interface Filer extends Omit<FilerLine, 'forms'> {
  readonly listing: StoredListing;
  readonly filings: readonly KeptFiling[];
  /** What later batches told otherwise. */
  readonly revised: readonly KeptFiling[];
}

const ROW_NATURE =
  'A filing as its source lists it; describes the filing record, never adjudicates the event; no advice';
const FILER_NATURE =
  'What is stored of one filer; describes the collection, never adjudicates an event; no advice';

/** Writes every filing, what is stored of each filer, the lists, and the previews. */
export function writeFilers(filers: readonly Filer[], press: Press): void {
  const lines = filers.map((filer) => {
    writeFilings(filer, press);
    press.file(filingListPath(filer.cik), filer.filings.map(({ row }) => line(row)).join(''));
    return writeFiler(filer, press);
  });
  press.file(FILERS_PATH, lines.map(formatFilerLine).join(''));
  writeFilingPreviews(lines, press);
}

const line = (row: KeptFiling['row']): string => formatFilingLine(row);

/** A revised filing keeps its hash in the look-ups; told as before again, it is the current one. */
function writeFilings(filer: Filer, press: Press): void {
  const seen = new Set(filer.filings.map((filing) => writeFiling(filer, filing, press)));
  for (const { row, batch } of filer.revised) {
    const core = coreOf(row);
    const record_hash = press.sealer.rowHash(core);
    if (seen.has(record_hash)) continue;
    seen.add(record_hash);
    putHash(press, { record_hash, batch, core }, null);
  }
}

interface HashedCore {
  readonly record_hash: string;
  readonly batch: string;
  readonly core: FilingRow['_hash_core'];
}

/** Makes a record hash findable and puts it into the log; `file` is null where another has taken its place. */
function putHash(
  press: Press,
  { record_hash, batch, core }: HashedCore,
  file: string | null,
): void {
  const state = file === null ? 'superseded' : 'current';
  const { entity, observed_at } = core;
  press.lookUp({ record_hash, kind: 'row', state, file, signal_id: null, entity, observed_at });
  press.leaf({ batch, record_hash });
}

/** The record hash of what was written. */
function writeFiling(filer: Filer, { row, batch }: KeptFiling, press: Press): string {
  const core = coreOf(row);
  const record_hash = press.sealer.rowHash(core);
  const { row: _kind, ...facts } = core;
  const body: Omit<FilingRow, '_citation'> = {
    nature: ROW_NATURE,
    entity_name: filer.name,
    ...facts,
    is_amendment: isAmendment(row.form),
    evidence_url: row.source_ref,
    grade: row.grade ?? null,
    record_hash,
    _hash_core: core,
  };
  const path = filingPath(filer.cik, row);
  put(press, { path, entity: filer.cik, signed: press.sealer.seal(body, statementOf(filer, row)) });
  putHash(press, { record_hash, batch, core }, path);
  return record_hash;
}

/** The hash core of a filing: what the source says, and when it was first collected as it is. */
function coreOf(row: KeptFiling['row']): FilingRow['_hash_core'] {
  const { accession, form, items, event_time, filing_date, disclosure_time } = row;
  const { acceptance_basis, source, source_ref, source_tier } = row;
  const members: FilingRow['_hash_core'] = {
    hash_core_version: HASH_CORE_VERSION,
    row: FILING_COLLECTION,
    entity: row.cik,
    accession,
    form,
    items,
    event_time,
    filing_date,
    disclosure_time,
    acceptance_basis,
    observed_at: disclosure_time ?? `${filing_date}T00:00:00Z`,
    snapshot_date: `${row.collected_at.slice(0, 10)}T00:00:00Z`,
    source,
    source_ref,
    source_tier,
  };
  const ordered = FILING_CORE_FIELDS.map((name) => [name, members[name]]);
  return Object.fromEntries(ordered) as FilingRow['_hash_core'];
}

function statementOf({ cik, name }: Filer, row: KeptFiling['row']): Statement {
  const { accession, form, filing_date, disclosure_time } = row;
  const accepted =
    disclosure_time === null ? 'at an hour that its source leaves open' : `at ${disclosure_time}`;
  const query = `entity=${cik}&form=${encodeURIComponent(form)}&cutoff=${filing_date}`;
  return {
    claim: `filing record of ${form} ${accession} by ${name}`,
    fact: `${form} ${accession} of ${name} (CIK ${cik}) bears the filing day ${filing_date} and was accepted ${accepted}, as ${row.source} lists it`,
    target: `/resolve?${query}`,
    observed_at: disclosure_time ?? `${filing_date}T00:00:00Z`,
    retrieved_at: row.collected_at,
  };
}

function writeFiler(filer: Filer, press: Press): FilerLine {
  const { cik, name, tickers, collected_at, covered_from, listing, filings } = filer;
  const forms = formCounts(filings);
  const covers =
    covered_from === null
      ? `the whole list of ${listing.source}, from the first filing on`
      : `the list of ${listing.source} from the filing day ${covered_from} on; of older filings some or all are not stored`;
  const body: Omit<FilerCoverage, '_citation'> = {
    nature: FILER_NATURE,
    entity: cik,
    entity_name: name,
    tickers: [...tickers],
    observed_at: collected_at,
    covered_from,
    covers,
    filings_count: filings.length,
    forms,
    source: listing.source,
    source_ref: listing.source_ref,
    source_tier: listing.source_tier,
    grade: listing.grade ?? null,
  };
  const statement: Statement = {
    claim: `stored filings of ${name}`,
    fact: `${filings.length} filings of ${name} (CIK ${cik}) are stored, collected until ${collected_at}: ${covers}`,
    target: '/resolve/preview',
    observed_at: collected_at,
    retrieved_at: collected_at,
  };
  const path = filerPath(cik);
  put(press, { path, entity: cik, signed: press.sealer.seal(body, statement) });
  return { cik, name, tickers, collected_at, covered_from, forms: forms.map((row) => row.form) };
}

/** Counts by form family, an amendment under its own name. */
function formCounts(filings: readonly KeptFiling[]): FilerCoverage['forms'] {
  const days = new Map<string, Map<string, string>>();
  for (const { row } of filings) {
    const form = formFamily(row.form) + (isAmendment(row.form) ? '/A' : '');
    const known = days.get(form) ?? new Map<string, string>();
    days.set(form, known.set(row.accession, row.filing_date));
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([form, known]) => {
      const dates = [...known.values()].sort();
      const [first_filing_date = ''] = dates;
      return { form, count: dates.length, first_filing_date, last_filing_date: dates.at(-1) ?? '' };
    });
}

interface SignedFile {
  readonly path: string;
  readonly entity: string;
  readonly signed: FilingBody;
}
type FilingBody = { readonly observed_at: string; readonly _citation: FilingRow['_citation'] };

/** A file that no operation spells: its citation is looked up like any other. */
function put(press: Press, { path, entity, signed }: SignedFile): void {
  press.file(path, JSON.stringify(signed));
  const { record_hash } = signed._citation;
  const entry = { kind: 'citation', state: 'current', file: path, signal_id: null } as const;
  press.lookUp({ record_hash, ...entry, entity, observed_at: signed.observed_at });
}
