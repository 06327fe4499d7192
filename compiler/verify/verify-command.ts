import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { NOTE_CHARS_MAX, openNote } from '../contract/checkpoint.ts';
import { withoutProof } from '../contract/citation.ts';
import { messageOf } from '../contract/errors.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../contract/series-csv.ts';
import { decodeUtf8, type JsonValue } from '../contract/strict-json.ts';
import { type BodyReport, canonicalHash } from './body-check.ts';
import { type Demands, expectingProof, withDemands } from './demand-checks.ts';
import { type Disk, nodeDisk, readAll } from './disk.ts';
import { type GivenKeys, givenCatalog, givenKeys } from './given-keys.ts';
import { type Trusted, trustedBy } from './key-trust.ts';
import { openChunks } from './plain-file.ts';
import { type PolicyTrust, witnessWords } from './policy-check.ts';
import { parseMemory, remember } from './release-chain.ts';
import {
  bodyText,
  EXIT,
  evidenceLines,
  exitOf,
  type FetchedFrom,
  faultLines,
  issuerLine,
  jsonText,
  noRelease,
  printed,
  receiptText,
  releaseText,
  undecided,
  VERDICT,
  type VerifyOutcome,
} from './report-text.ts';
import { CLOCK_SKEW_MS } from './request-time.ts';
import { isOfSigner } from './signed-head.ts';
import { signerOf, verifyBody } from './verify-body.ts';
import { type LogReport, verifyLog } from './verify-log.ts';
import { receiptIn, verifyReceipt } from './verify-receipt.ts';
import { type ReleaseReport, type VerifyProgress, verifyRelease } from './verify-release.ts';

export const INPUT_BYTES_MAX = 67_108_864;
const STDIN = 0;
/** Shorter than any receipt, and longer than the name of a file may be. */
const RECEIPT_CHARS_MIN = 300;
const ONLY_OF_BODIES =
  '--catalog is about a body; a release is judged by the catalogue that it carries';
const DEMANDS_OF_BODIES = '--expect and --max-age are about a body; name the file of one';
const PROOF_OF_BODIES = '--proof and --write-proof are about a body; name the file of one';
const NO_PROOF_THERE =
  'it came without a proof; buy it without proof=0, or leave --write-proof out';
const ONLY_OF_RECEIPTS =
  '--body and --payer are about a receipt; name its file, or pass the value of its header';
const NOT_OF_RECEIPTS =
  '--max-age, --catalog and --write-proof are about a body; leave them out for a receipt';
const ONLY_OF_RELEASES = '--remember is about releases; leave it out for a body';

export interface VerifyCommandOptions extends Pick<Demands, 'expect' | 'maxAgeMs'>, PolicyTrust {
  /** The catalogue of the publisher: its file beside `release.json`, or a release folder. */
  readonly catalog?: string;
  /** DIDs of issuers that are trusted; without one, and without root keys, nothing is called verified. */
  readonly issuer?: readonly string[];
  /** DIDs of root keys that are trusted: a list of keys has to be under them. */
  readonly root?: readonly string[];
  /** The file of the body that a receipt is for. */
  readonly body?: string;
  /** Who must have paid by a receipt. */
  readonly payer?: string;
  /** A list of issuer keys; or a release, data or mirror folder, or a saved site, with its list and its log. */
  readonly keys?: string;
  readonly json?: boolean;
  /** Whether a body that is not proven to be in the log fails, or is taken; by default it cannot be judged. */
  readonly proof?: boolean;
  /** Takes the proof that came with a body which holds. */
  readonly writeProof?: (proof: string) => void;
  readonly disk?: Disk;
  readonly readStdin?: () => Uint8Array | Promise<Uint8Array>;
  readonly progress?: (step: VerifyProgress) => void;
  readonly workers?: number;
  /** For a release: signatures too with code that shares nothing with the signer's. */
  readonly independent?: boolean;
  /** What was verified before; a release must follow from it. */
  readonly memory?: MemoryFile;
  /** Clock of the reader, milliseconds since 1970; without it nothing is called stale. */
  readonly now?: number;
  /** Where a release was fetched from, and what that took. */
  readonly fetched?: FetchedFrom;
}

export interface MemoryFile {
  /** Null when there is no file yet. */
  readonly text: string | null;
  save(text: string): void;
}

/** `verify FILE|DIR|-`: judges one target and says so in words or in JSON. */
export async function runVerify(
  target: string,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const { issuer, root, disk = nodeDisk, json: isJson = false } = options;
  try {
    const pinned = trustedBy(issuer, root);
    const given = options.keys === undefined ? {} : givenKeys(disk, options.keys, pinned);
    const trusted: Trust = { ...pinned, ...given };
    const value = target.length < RECEIPT_CHARS_MIN ? null : receiptIn(target);
    if (value !== null) return judgeReceipt(value, trusted, options);
    if (target === '-') return await judgeFile(target, trusted, options);
    const why = noRelease(disk, target);
    const misuse = why === null ? misuseOfFolder(options) : null;
    if (misuse !== null) return undecided(target, misuse, isJson);
    if (why === null) return await judgeFolder(target, trusted, options);
    const isBody = !['folder', undefined].includes(disk.entry(target)?.kind);
    if (!isBody) return undecided(target, why, isJson);
    if (options.memory !== undefined) return undecided(target, ONLY_OF_RELEASES, isJson);
    return await judgeFile(target, trusted, options);
  } catch (error) {
    return undecided(target, messageOf(error), isJson);
  }
}

/** A body does not carry the list that root keys vouch for. */
function requireList({ roots, keys }: Trust): void {
  if (roots === undefined || keys !== undefined) return;
  throw new RangeError(
    'Cannot judge it by root keys alone: they vouch for a list of keys; pass it with --keys',
  );
}

/** Why options that concern a body alone cannot be passed for a release; null where none is. */
export function misuseOfFolder(options: VerifyCommandOptions): string | null {
  const { catalog, expect, maxAgeMs, proof, writeProof, body, payer } = options;
  if (body !== undefined || payer !== undefined) return ONLY_OF_RECEIPTS;
  if (catalog !== undefined) return ONLY_OF_BODIES;
  if (proof === true || writeProof !== undefined) return PROOF_OF_BODIES;
  return expect === undefined && maxAgeMs === undefined ? null : DEMANDS_OF_BODIES;
}

type Trust = Trusted & GivenKeys;

async function judgeFolder(
  target: string,
  trusted: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const { memory, now, json, readStdin, issuer, root, keys: _, catalog: __, ...rest } = options;
  const known = memory === undefined ? null : parseMemory(memory.text);
  const found = rest.fetched?.faults ?? [];
  const report = await verifyRelease(target, {
    ...rest,
    now,
    seen: known?.issuers,
    ...trusted,
    found,
  });
  const stale = now === undefined ? null : staleness(report, now, memory !== undefined);
  const exitCode =
    report.verdict === 'verified' && stale !== null ? EXIT.undecided : exitOf(report.verdict);
  if (memory !== undefined && known !== null && exitCode === EXIT.verified) {
    const { head, checkpoint, seenKeys } = report;
    if (head === null) throw new TypeError('Cannot remember a release: it has no head');
    const { sequence, as_of, issuer_did } = head;
    memory.save(
      remember(known, report.issuer ?? issuer_did, {
        sequence,
        as_of,
        head: canonicalHash(head),
        checkpoint,
        ...(seenKeys === null ? {} : { keys: seenKeys }),
      }),
    );
  }
  const pinned = trusted.trust !== 'any';
  const { from: shown = target, facts } = rest.fetched ?? {};
  if (json === true) {
    const machine = { target: shown, issuer_pinned: pinned, stale, ...report };
    return { exitCode, text: jsonText(facts === undefined ? machine : { ...machine, ...facts }) };
  }
  const note = stale === null ? '' : `cannot be judged  ${shown}\n  ${stale}\n`;
  return { exitCode, text: note + releaseText(shown, report, { pinned, facts }) };
}

/** Why a release may be frozen or backdated, or (if it is to be remembered) is dated in the future; null for none of these. */
function staleness(
  { head, past }: ReleaseReport,
  now: number,
  isRemembered: boolean,
): string | null {
  if (head === null) return null;
  if (head.valid_until !== undefined && Date.parse(head.valid_until) < now) {
    return `stale: valid until ${head.valid_until}; look for a newer release`;
  }
  if (past !== null) return `${past}; look for a newer release`;
  const ahead = isRemembered && Date.parse(head.as_of) - now > CLOCK_SKEW_MS;
  return ahead ? `as of ${head.as_of}, which is still to come; correct the clock` : null;
}

async function judgeFile(
  target: string,
  trusted: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  requireList(trusted);
  const { disk = nodeDisk, readStdin = () => readAll(openChunks(STDIN), INPUT_BYTES_MAX) } =
    options;
  const saved = decodeUtf8(
    target === '-' ? await readStdin() : readAll(disk.named(target), INPUT_BYTES_MAX),
  );
  if (saved.startsWith(SERIES_CSV_HEADER))
    return undecided(target, UNSIGNED_CSV, options.json === true);
  const receipt = receiptIn(saved);
  if (receipt !== null) return judgeReceipt(receipt, trusted, options);
  if (options.body !== undefined || options.payer !== undefined)
    return undecided(target, ONLY_OF_RECEIPTS, options.json === true);
  const body = bodyOfText(saved);
  const { now, policy } = options;
  const catalog = catalogFor(body, trusted, options);
  const proof = options.proof === true ? 'demanded' : 'noted';
  const judged = verifyBody(body, { ...trusted, now, policy, catalog, proof });
  const demanded = withDemands(judged, body, { ...options, catalog: catalog ?? BUILTIN });
  const report = options.proof === undefined ? expectingProof(demanded, options.expect) : demanded;
  if (!writtenProof(body, report, options)) {
    return undecided(target, NO_PROOF_THERE, options.json === true);
  }
  const pinned = trusted.trust !== 'any';
  const exitCode = exitOf(report.verdict);
  const text =
    options.json === true
      ? jsonText({ target, exit_code: exitCode, issuer_pinned: pinned, ...report })
      : bodyText(target, report, { pinned });
  return { exitCode, text };
}

/** Writes the proof of a body that holds, if asked to; false if there is none to write. */
function writtenProof(
  body: JsonValue,
  { checks }: Pick<BodyReport, 'checks'>,
  { writeProof }: Pick<VerifyCommandOptions, 'writeProof'>,
): boolean {
  const isProven = checks.some(({ check, status }) => check === 'logged' && status === 'pass');
  if (writeProof === undefined || checks.some(({ status }) => status === 'fail')) return true;
  const { proof } = withoutProof(body);
  if (!isProven || typeof proof !== 'string') return false;
  writeProof(proof);
  return true;
}

/** Judges the receipt of a sale; without a list of keys the verdict stays open. */
function judgeReceipt(
  jws: string,
  trusted: Trust,
  { body, payer, expect, disk = nodeDisk, json = false, ...rest }: VerifyCommandOptions,
): VerifyOutcome {
  const { maxAgeMs, catalog, writeProof } = rest;
  if ([maxAgeMs, catalog, writeProof].some((given) => given !== undefined))
    return undecided('receipt', NOT_OF_RECEIPTS, json);
  const delivered = body === undefined ? undefined : readAll(disk.named(body), INPUT_BYTES_MAX);
  requireList(trusted);
  const report = verifyReceipt(jws, trusted, { body: delivered, expect, payer });
  const { verdict } = report;
  const exitCode = verdict === 'verified' || verdict === 'failed' ? EXIT[verdict] : EXIT.undecided;
  const machine = { target: 'receipt', exit_code: exitCode, ...report };
  return { exitCode, text: json ? jsonText(machine) : receiptText(report) };
}

/** The catalogue that was passed, proven to be that of who signed the body; throws for any other. */
function catalogFor(
  body: JsonValue,
  trusted: Trust,
  { catalog: path, disk = nodeDisk }: VerifyCommandOptions,
): Catalog | undefined {
  if (path === undefined) return undefined;
  const given = givenCatalog(disk, path, trusted);
  const signer = signerOf(body);
  if (isOfSigner(given.head, signer, trusted.keys)) return given.catalog;
  throw new RangeError(
    `Cannot use "${path}" of --catalog: of ${given.head.issuer_did}, and the body is signed by ${signer ?? 'nobody'}`,
  );
}

/** `verify --log DIR`: judges the whole log of a release, and that it grew from a checkpoint that was seen before. */
export function runVerifyLog(
  target: string,
  options: PolicyTrust & {
    issuer?: readonly string[];
    root?: readonly string[];
    /** A list of issuer keys, or a release folder with one; it may know of a revocation that the release hides. */
    keys?: string;
    json?: boolean;
    /** File of a checkpoint that was saved before. */
    since?: string;
    disk?: Disk;
  },
): VerifyOutcome {
  const { issuer, root, since, disk = nodeDisk, json: isJson = false, policy, now } = options;
  try {
    const trusted = trustedBy(issuer, root);
    const { keys } = options.keys === undefined ? {} : givenKeys(disk, options.keys, trusted);
    const seen = since === undefined ? undefined : noteIn(since, disk);
    const why = noRelease(disk, target);
    if (why !== null) return undecided(target, why, isJson);
    const report = verifyLog(target, { ...trusted, keys, policy, now, since: seen, disk });
    const pinned = trusted.trust !== 'any';
    const text = isJson
      ? jsonText({ target, issuer_pinned: pinned, ...report })
      : logText(target, report, pinned);
    return { exitCode: exitOf(report.verdict), text };
  } catch (error) {
    return undecided(target, messageOf(error), isJson);
  }
}

function noteIn(file: string, disk: Disk): string {
  if (disk.entry(file) === null)
    throw new RangeError(`Cannot read "${file}" of --since: no such file`);
  const note = decodeUtf8(readAll(disk.named(file), NOTE_CHARS_MAX));
  if (openNote(note) !== null) return note;
  throw new RangeError(
    `Cannot use "${file}" of --since: not the signed note of a checkpoint; save /log/checkpoint as it is`,
  );
}

function logText(target: string, report: LogReport, pinned: boolean): string {
  return printed([
    `${VERDICT[report.verdict]}  log of ${target}`,
    ...faultLines(report),
    `  ${report.entries} entries hashed again, ${report.checkpoints} checkpoints, each the start of the next`,
    `  ${report.records} published record hashes found in the log`,
    `  timestamps: ${report.anchors.confirmed} lead to a Bitcoin block (headers not checked), ${report.anchors.pending} pending`,
    ...report.witnessed.map((each) => `  ${witnessWords(each)}`),
    ...evidenceLines(report.evidence),
    issuerLine(report.head?.issuer_did ?? null, pinned),
  ]);
}
