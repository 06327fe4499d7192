import { signalOf } from '../../catalog/builtin.ts';
import { isCode } from '../../format/errors.ts';
import { hashCore } from '../../format/record-hash.ts';
import { decodeUtf8, isObject, type JsonValue, parseJson } from '../../format/strict-json.ts';
import { rosterCore, rosterKindOf } from '../../products/collections.ts';
import type { Signal } from '../../products/shapes/line.ts';
import { type Evidence, evidenceSchema, type Provenance } from '../../products/shapes/record.ts';
import type { Reading } from '../../readings/reading.ts';
import { Archive, type Archived, ArchiveError, fetchNoteOf } from '../../sources/fetch/archive.ts';
import { readPayload } from '../../sources/import-command.ts';
import { ImportError, type Imported } from '../../sources/kit/payload.ts';
import type { Source } from '../../sources/kit/source.ts';
import { sourceOf } from '../../sources/sources.ts';
import { nodeDisk, readAll } from '../../system/disk.ts';
import { openChunks } from '../../system/plain-file.ts';
import { canonicalHash, memberPath, objectNodes } from '../../verify/body-check.ts';
import {
  EXIT,
  jsonText,
  noRelease,
  printed,
  type VerifyOutcome,
} from '../../verify/report-text.ts';
import {
  INPUT_BYTES_MAX,
  runVerify,
  type VerifyCommandOptions,
} from '../../verify/verify-command.ts';
import { coreFields } from '../assemble/entity-record.ts';

/** A link of lineage in a body, and who its reading is about, where the body says. */
interface EvidenceLink {
  /** Where it stands, like `provenance.data_lineage.0`. */
  readonly where: string;
  readonly link: Provenance['data_lineage'][number];
  readonly entity: string | null;
}

/** Every reading that a body names in a lineage, once, with its place. */
function evidenceLinks(body: JsonValue): EvidenceLink[] {
  const nodes = [...objectNodes(body)];
  const entities = new Map(
    nodes.flatMap(({ value: { record_hash, entity } }) =>
      typeof record_hash === 'string' && typeof entity === 'string'
        ? [[record_hash, entity] as const]
        : [],
    ),
  );
  const found = new Map<string, EvidenceLink>();
  for (const { path, value } of nodes) {
    const { provenance } = value;
    if (!isObject(provenance) || !Array.isArray(provenance.data_lineage)) continue;
    for (const [at, link] of provenance.data_lineage.entries()) {
      const where = memberPath(path, `provenance.data_lineage.${at}`);
      const key = JSON.stringify(link);
      if (!isObject(link) || found.has(key)) continue;
      const entity = entities.get(String(link.record_hash)) ?? null;
      found.set(key, { where, link: link as unknown as EvidenceLink['link'], entity });
    }
  }
  return [...found.values()];
}

/** Sources beside those of the table; null for one of the table. */
export type KnownSources = (id: string) => Source | null;

export interface Witnesses {
  readonly archive: Pick<Archive, 'find' | 'payload'>;
  readonly known?: KnownSources;
}

/**
 * What was found behind one link. `shown`: the bytes are those that the evidence names, and the reading follows from them.
 * `failed`: it does not. `open`: what would decide it is not at hand.
 */
interface Rederived {
  readonly verdict: 'shown' | 'failed' | 'open';
  readonly detail: string;
}

interface Remade {
  readonly entity: unknown;
  readonly observed_at: unknown;
  readonly record_hash: string;
  readonly text: string;
}

/** Of a reading that says nothing about where it was imported from. */
const UNNAMED = 'no evidence named';
const VALUE_CHARS_MAX = 200;
const shown = (detail: string): Rederived => ({ verdict: 'shown', detail });
const failed = (detail: string): Rederived => ({ verdict: 'failed', detail });
const open = (detail: string): Rederived => ({ verdict: 'open', detail });

/** Goes from a link of lineage to the payload that it names, imports that again, and looks for the reading in it. */
function rederive(found: EvidenceLink, witnesses: Witnesses): Rederived {
  if (found.link.evidence === undefined) return open(UNNAMED);
  const evidence = evidenceSchema.safeParse(found.link.evidence);
  if (!evidence.success) return failed(`not evidence: ${evidence.error.issues[0]?.message}`);
  const { importer } = evidence.data;
  const source = sourceNamed(importer, witnesses.known);
  if (source === null) {
    return open(`this program has no importer "${importer}"; use the one that made the record`);
  }
  const archived = fetchOf(evidence.data, witnesses);
  if ('verdict' in archived) return archived;
  const { version } = source;
  const made = `${evidence.data.importer} v${evidence.data.importer_version}`;
  const fault = faultBehind(found, source, archived, witnesses);
  if (fault?.kind === 'missing') return open(fault.text);
  if (fault?.kind === 'bytes') return failed(fault.text);
  if (version !== evidence.data.importer_version) {
    const gives = fault === null ? 'which gives the same reading' : `by which ${fault.text}`;
    return open(`made by ${made}; this program has v${version}, ${gives}`);
  }
  if (fault !== null) return failed(`payload sha256 matches, but ${fault.text}`);
  return shown(`payload sha256 matches; reading re-derived by ${made}`);
}

export function sourceNamed(id: string, known?: KnownSources): Source | null {
  try {
    return known?.(id) ?? sourceOf(id);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function fetchOf({ sha256, importer, url, fetched_at }: Evidence, { archive }: Witnesses) {
  const fetches = archive.find(sha256);
  if (fetches.length === 0) {
    return open(`the archive has no payload ${sha256}; ask the publisher of the record for it`);
  }
  const found = fetches.find(
    (one) => one.source === importer && one.url === url && one.fetched_at === fetched_at,
  );
  return found ?? failed(`the archive has the payload, but not fetched at ${fetched_at} as named`);
}

function faultBehind(
  found: EvidenceLink,
  source: Source,
  archived: Archived,
  { archive }: Witnesses,
): { kind: 'missing' | 'bytes' | 'reading'; text: string } | null {
  try {
    const bytes = archive.payload(archived);
    const payload = { bytes, note: fetchNoteOf(archived), subject: archived.url };
    const text = faultOf(found, remadeIn(readPayload(source, payload), found.link.signal));
    return text === null ? null : { kind: 'reading', text };
  } catch (error) {
    if (error instanceof ImportError) return { kind: 'reading', text: error.message };
    if (!(error instanceof ArchiveError)) throw error;
    // The note may be there, and the file of the payload not.
    const kind = isCode(error.cause, 'ENOENT') ? 'missing' : 'bytes';
    return { kind, text: error.message };
  }
}

/** Why no reading of the payload is that of the link; null where one is. */
function faultOf({ link, entity }: EvidenceLink, made: readonly Remade[]): string | null {
  const { signal, observed_at, record_hash } = link;
  const near = made.filter(
    (one) => one.observed_at === observed_at && (entity === null || one.entity === entity),
  );
  if (near.some((one) => one.record_hash === record_hash)) return null;
  const [first] = near;
  const about = entity === null ? signal : `${signal} of ${entity}`;
  if (first === undefined) return `nothing in it is about ${about} at ${observed_at}`;
  return `it gives ${first.text} for ${about} at ${observed_at}, which has another record hash`;
}

/** Everything that a payload says of a signal or collection, hashed as the compiler hashes it. */
function remadeIn(imported: Imported, id: string): Remade[] {
  const signal = signalOf(id);
  const readings = imported.readings.get(id) ?? [];
  const rows: readonly object[] = [...(imported.rows ?? [])].flatMap(([name, list]) =>
    name === id ? list : [],
  );
  return [
    ...(signal === undefined ? [] : readings.map(stored).map((one) => remadeReading(signal, one))),
    ...rows.map(stored).flatMap(remadeRows),
  ];
}

/** As it is after it was written into a batch and read again. */
function stored<Row extends object>(row: Row): Row {
  return JSON.parse(JSON.stringify(row));
}

function remadeReading(signal: Signal, reading: Reading): Remade {
  const record_hash = canonicalHash(hashCore(coreFields(signal, reading)));
  return { ...aboutOf(reading, reading.current), record_hash };
}

function remadeRows(row: object): Remade[] {
  const facts = row as Readonly<Record<string, unknown>>;
  const kind = rosterKindOf(facts);
  if (kind === null) return [];
  return [{ ...aboutOf(facts, facts), record_hash: canonicalHash(rosterCore(kind, facts)) }];
}

function aboutOf({ entity, observed_at }: Partial<Reading>, values: object) {
  return { entity, observed_at, text: JSON.stringify(values).slice(0, VALUE_CHARS_MAX) };
}

interface EvidenceOptions extends VerifyCommandOptions {
  readonly archive: string;
  readonly witnesses?: Witnesses;
}

const STDIN = 0;
const ONLY_OF_BODIES =
  'Cannot use --archive for a release: it is about one body; name the file of a body';
const VERDICT = {
  shown: 'evidence shown',
  failed: 'evidence FAILED',
  open: 'evidence cannot be judged',
} as const;
const STATUS = { shown: 'ok', failed: 'FAIL', open: '-' } as const;
type Exit = VerifyOutcome['exitCode'];
const EXITS = { shown: EXIT.verified, failed: EXIT.failed, open: EXIT.undecided } as const;

/** `verify FILE --archive DIR`: judges a body, and leads each of its readings back to the payload that it was read from. */
export async function runVerifyEvidence(
  target: string,
  options: EvidenceOptions,
): Promise<VerifyOutcome> {
  const { disk = nodeDisk } = options;
  if (target !== '-' && disk.entry(target) === null) return runVerify(target, options);
  if (target !== '-' && noRelease(disk, target) === null) throw new RangeError(ONLY_OF_BODIES);
  const bytes = await bytesOf(target, options);
  const outcome = await runVerify(target, {
    ...options,
    // A pipe is read once.
    disk: { ...disk, named: (path) => (path === target ? [bytes] : disk.named(path)) },
    readStdin: () => bytes,
  });
  const body = parsed(bytes);
  if (body === null) return outcome;
  const { witnesses = { archive: new Archive(options.archive) } } = options;
  const checks = evidenceChecks(body, witnesses);
  const verdict = evidenceVerdict(checks);
  const exitCode = worse(outcome.exitCode, EXITS[verdict]);
  if (options.json === true) {
    const evidence = { evidence_verdict: verdict, evidence: checks };
    return { exitCode, text: jsonText({ ...JSON.parse(outcome.text), ...evidence }) };
  }
  const isNamed = checks.some(({ detail }) => detail !== UNNAMED);
  return {
    exitCode,
    text:
      outcome.text +
      printed([
        `${VERDICT[verdict]}${isNamed ? '' : `: ${UNNAMED}`}  ${target}`,
        ...checks.map(({ verdict, signal, entity, observed_at, detail }) => {
          const about = entity === null ? signal : `${signal} of ${entity}`;
          return `  ${STATUS[verdict].padEnd(5)} evidence      ${about} at ${observed_at}  ${detail}`;
        }),
      ]),
  };
}

export function evidenceChecks(body: JsonValue, witnesses: Witnesses) {
  return evidenceLinks(body).map((found) => {
    const { where, entity } = found;
    const { signal, observed_at } = found.link;
    return { where, signal, entity, observed_at, ...rederive(found, witnesses) };
  });
}

/** The worst of them; nothing is shown where nothing is named. */
function evidenceVerdict(checks: readonly Rederived[]): Rederived['verdict'] {
  const verdicts = new Set(checks.map(({ verdict }) => verdict));
  if (verdicts.has('failed')) return 'failed';
  return verdicts.size === 0 || verdicts.has('open') ? 'open' : 'shown';
}

async function bytesOf(target: string, { disk = nodeDisk, readStdin }: EvidenceOptions) {
  if (target !== '-') return readAll(disk.named(target), INPUT_BYTES_MAX);
  return readStdin === undefined ? readAll(openChunks(STDIN), INPUT_BYTES_MAX) : readStdin();
}

/** Null for what runVerify has refused already. */
function parsed(bytes: Uint8Array): JsonValue | null {
  try {
    return parseJson(decodeUtf8(bytes));
  } catch {
    return null;
  }
}

function worse(one: Exit, other: Exit): Exit {
  if (one === EXIT.failed || other === EXIT.failed) return EXIT.failed;
  return one === EXIT.verified ? other : one;
}
