import { hash } from 'node:crypto';
import type { Statement } from '../../contract/citation.ts';
import { defined } from '../../contract/defined.ts';
import {
  FILING_SOURCE_CLASS,
  filingCore,
  type HashedFiling,
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
import { filingLists, provenList, storedForms } from '../../contract/filing-lists.ts';
import type { FilerCoverage, FilingRow } from '../../contract/resolve-bodies.ts';
import { canonicalTarget } from '../../contract/route.ts';
import type { StoredFiling, StoredListing } from '../intake/collection-rows.ts';
import type { Press } from '../publish/press.ts';
import { canonicalDigest } from '../seal/canonical-digest.ts';
import { putRowHashes, type RowHash } from './rosters/row-hashes.ts';

/** Filers that a preview lists; all of them may be asked for. */
const PREVIEW_FILERS_MAX = 500;

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
  /** What later batches revised. */
  readonly revised: readonly KeptFiling[];
}

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

const ROW_NATURE =
  'A filing as its source lists it; describes the filing record, never adjudicates the event; no advice';
const FILER_NATURE =
  'What is stored of one filer; describes the collection, never adjudicates an event; no advice';

/** A kept filing with its hash. */
interface SealedFiling extends KeptFiling {
  readonly hashed: HashedFiling;
}

/** Writes every filing, what is stored of each filer, the lists, and the previews. */
export function writeFilers(filers: readonly Filer[], press: Press): void {
  const lines = filers.map((filer) => {
    const filings = filer.filings.map((kept) => sealed(kept));
    writeFilings(filer, filings, press);
    const listed = filings.map(({ hashed }) => hashed);
    press.file(filingListPath(filer.cik), listed.map(formatFilingLine).join(''));
    return writeFiler(filer, listed, press);
  });
  press.file(FILERS_PATH, lines.map(formatFilerLine).join(''));
  writeFilingPreviews(lines, press);
}

/** A revised filing keeps its hash in the look-ups; stored as before again, it is the current one. */
function writeFilings(filer: Filer, filings: readonly SealedFiling[], press: Press): void {
  const current = filings.map((filing) => hashOf(filing, writeFiling(filer, filing, press)));
  const revised = filer.revised.map((kept) => hashOf(sealed(kept), null));
  putRowHashes(press, [...current, ...revised]);
}

/** Where the hash of a filing is found; `file` is null where another has taken its place. */
function hashOf({ row, batch, hashed }: SealedFiling, file: string | null): RowHash {
  const { entity, observed_at } = filingCore(row.cik, hashed);
  const { record_hash } = hashed;
  return { record_hash, signal_id: null, entity, observed_at, batch, file };
}

/** What its source says of a filing, and when it was first collected as it is. */
function sealed({ row, batch }: KeptFiling): SealedFiling {
  const snapshot_date = `${row.collected_at.slice(0, 10)}T00:00:00Z`;
  const record_hash = canonicalDigest(filingCore(row.cik, { ...row, snapshot_date }));
  return { row, batch, hashed: { ...row, snapshot_date, record_hash } };
}

/** Writes the body of a filing and returns its path. */
function writeFiling(filer: Filer, { row, hashed }: SealedFiling, press: Press): string {
  const core = filingCore(row.cik, hashed);
  const { row: _kind, ...facts } = core;
  const body: Omit<FilingRow, '_citation'> = {
    nature: ROW_NATURE,
    entity_name: filer.name,
    ...facts,
    is_amendment: isAmendment(row.form),
    evidence_url: row.source_ref,
    grade: row.grade ?? null,
    record_hash: hashed.record_hash,
    _hash_core: core,
  };
  const path = filingPath(filer.cik, row);
  put(press, { path, entity: filer.cik, signed: press.sealer.seal(body, statementOf(filer, row)) });
  return path;
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

function writeFiler(filer: Filer, filings: readonly HashedFiling[], press: Press): FilerLine {
  const { cik, name, tickers, collected_at, covered_from, gaps, listing } = filer;
  const lists = filingLists(filings).map((list) => provenList(list, sha256).head);
  const covers = coversOf(filer);
  const body: Omit<FilerCoverage, '_citation'> = {
    nature: FILER_NATURE,
    entity: cik,
    entity_name: name,
    tickers: [...tickers],
    observed_at: collected_at,
    covered_from,
    gaps: [...gaps],
    covers,
    filings_count: filings.length,
    lists,
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
  return { cik, name, tickers, collected_at, covered_from, gaps, forms: storedForms(lists) };
}

/** What the list of a filer holds, in words. */
function coversOf({ covered_from, gaps, listing }: Filer): string {
  const whole =
    covered_from === null
      ? `the whole list of ${listing.source}, from the first filing on`
      : `the list of ${listing.source} from the filing day ${covered_from} on; of older filings some or all are not stored`;
  const spans = gaps.map(({ from, to }) => `; incomplete from the filing day ${from} to ${to}`);
  return whole + spans.join('');
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

const NATURE =
  'Which filers and form types have stored filing records; descriptive only, never adjudicates an event, no advice';
const CUTOFF_RULE =
  'a bare date means the whole official filing day in New York and is compared with the filing date; ' +
  'a date-time with Z or an offset is compared with the time of acceptance';
const ANSWER_RULE =
  'the newest filing of the form at or before the cutoff, else the first one after it; amendments and ' +
  'filings of the same day make it ambiguous, sources that tell different facts make it conflicting';
const NONE_RULE =
  'filed_by_cutoff is false only where the stored list is whole (covered_from is null), has no gap before the cutoff and was collected after it, else null';
const CONFIDENCE_RULE =
  'confidence is 1 for a resolved answer and 0 for every other one; it is never a probability';

/** The two free bodies that say what may be asked for. */
export function writeFilingPreviews(filers: readonly FilerLine[], press: Press): void {
  press.put('/resolve/preview', {}, previewOf('/resolve', filers));
  press.put('/resolve/proposer/preview', {}, previewOf('/resolve/proposer', filers));
}

function previewOf(path: string, filers: readonly FilerLine[]): object {
  return {
    nature: NATURE,
    filers_count: filers.length,
    filers: filers.slice(0, PREVIEW_FILERS_MAX).map(filerRow),
    source_classes: [FILING_SOURCE_CLASS],
    cutoff_rule: CUTOFF_RULE,
    answer_rule: ANSWER_RULE,
    none_rule: NONE_RULE,
    ...(path === '/resolve' ? {} : { confidence_rule: CONFIDENCE_RULE }),
    example_request: exampleOf(path, filers),
  };
}

function filerRow({ name, forms, ...filer }: FilerLine): object {
  const { cik, tickers, collected_at, covered_from, gaps } = filer;
  const entity = tickers[0] ?? cik;
  return { entity, cik, entity_name: name, tickers, forms, collected_at, covered_from, gaps };
}

function exampleOf(path: string, filers: readonly FilerLine[]): string | null {
  const filer = filers.find(({ forms }) => forms.length > 0);
  if (filer === undefined) return null;
  const { cik, tickers, forms, collected_at } = filer;
  const form = defined(forms.find((one) => one === '10-K') ?? forms[0], 'the form');
  const cutoff = collected_at.slice(0, 10);
  return canonicalTarget(path, { cutoff, entity: tickers[0] ?? cik, form });
}
