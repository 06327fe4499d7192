import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { messageOf } from '../format/errors.ts';
import { isContinued, type KeyHistory } from '../format/key-history.ts';
import { decodeUtf8, type JsonValue } from '../format/strict-json.ts';
import { SERIES_CSV_HEADER } from '../products/shapes/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../products/shapes/series-csv.ts';
import { type Disk, nodeDisk, readAll } from '../system/disk.ts';
import { openChunks } from '../system/plain-file.ts';
import { canonicalHash } from './body-check.ts';
import { type Demands, expectingProof, withDemands } from './demand-checks.ts';
import { type GivenKeys, givenCatalog, givenKeys } from './given-keys.ts';
import { type Trusted, trustedBy } from './key-trust.ts';
import type { PolicyTrust } from './policy-check.ts';
import { parseMemory, remember } from './release-chain.ts';
import { Faults } from './release-fault.ts';
import { releaseKeys, releaseRoot } from './release-head.ts';
import {
  bodyText,
  EXIT,
  evidenceLines,
  exitOf,
  type FetchedFrom,
  faultLines,
  firstLine,
  issuerLine,
  jsonText,
  noRelease,
  printed,
  receiptText,
  releaseText,
  undecided,
  type VerifyOutcome,
  witnessLines,
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
const EXPECT_OF_BODIES = '--expect is about a body or a receipt; name the file of one';
const ONLY_OF_RECEIPTS =
  '--body is about a receipt; name its file, or pass the value of its header';

export interface VerifyCommandOptions extends Pick<Demands, 'expect' | 'maxAgeMs'>, PolicyTrust {
  /** The catalogue of the publisher: its file beside `release.json`, or a release folder. */
  readonly catalog?: string;
  /** DIDs of issuers that are trusted; without one, and without root keys, nothing is called verified. */
  readonly issuer?: readonly string[];
  /** DIDs of root keys that are trusted: a list of keys has to be under them. */
  readonly root?: readonly string[];
  /** The file of the body that a receipt is for. */
  readonly body?: string;
  /** A list of issuer keys that the reader keeps. */
  readonly list?: KeyHistory | undefined;
  /** A list of issuer keys; or a release, data or mirror folder, or a saved site, with its list and its log. */
  readonly keys?: string;
  /** The trust file that names the issuer. */
  readonly namedBy?: string | undefined;
  /** The log that a proof has to be of. */
  readonly origin?: string | undefined;
  readonly json?: boolean;
  /** Whether the checks are listed below what they amount to. */
  readonly verbose?: boolean | undefined;
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
  /** Takes the next text, and the list of keys of the release that was verified, where it has one. */
  save(text: string, keys?: KeyHistory): void;
}

/** `verify FILE|DIR|-`: judges one target and says so in words or in JSON. */
export async function runVerify(
  target: string,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const { issuer, root, disk = nodeDisk, json: isJson = false } = options;
  try {
    const pinned = trustedBy(issuer, root);
    const { list: keys } = options;
    const given = options.keys === undefined ? {} : givenKeys(disk, options.keys, pinned);
    const trusted: Trust = { ...pinned, ...given, ...newerKeys(keys, given.keys) };
    const value = target.length < RECEIPT_CHARS_MIN ? null : receiptIn(target);
    if (value !== null) return judgeReceipt(value, trusted, options);
    if (target === '-') return await judgeFile(target, trusted, options);
    const why = noRelease(disk, target);
    const misuse = why === null ? misuseOfFolder(options) : null;
    if (misuse !== null) return undecided(target, misuse, isJson);
    if (why === null) return await judgeFolder(target, trusted, options);
    const isBody = !['folder', undefined].includes(disk.entry(target)?.kind);
    if (!isBody) return undecided(target, why, isJson);
    return await judgeFile(target, trusted, options);
  } catch (error) {
    return undecided(target, messageOf(error), isJson);
  }
}

/** A body does not carry the list that root keys vouch for. */
function requireList({ roots, keys }: Trust): void {
  if (roots === undefined || keys !== undefined) return;
  throw new RangeError('Cannot judge it by root keys alone: they vouch for a list of keys');
}

/** Why options that concern a body or a receipt alone cannot be passed for a release; null where none is. */
export function misuseOfFolder({ expect, body }: VerifyCommandOptions): string | null {
  if (body !== undefined) return ONLY_OF_RECEIPTS;
  return expect === undefined ? null : EXPECT_OF_BODIES;
}

/** The newer of two lists of one issuer; throws a RangeError where neither goes on from the other. */
export function newerKeys(one: KeyHistory | undefined, other: KeyHistory | undefined) {
  const keys = one ?? other;
  if (one === undefined || other === undefined) return keys === undefined ? {} : { keys };
  if (isContinued(one, other)) return { keys: other };
  if (isContinued(other, one)) return { keys: one };
  throw new RangeError(
    'Cannot use the list of keys of --mirror: a fork, which does not go on from the list of the trust file',
  );
}

type Trust = Trusted & GivenKeys;

async function judgeFolder(
  target: string,
  trusted: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const {
    memory,
    now,
    json,
    readStdin,
    issuer,
    root,
    keys: _,
    list: __,
    catalog: ___,
    ...rest
  } = options;
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
    const next = remember(known, report.issuer ?? issuer_did, {
      sequence,
      as_of,
      head: canonicalHash(head),
      checkpoint,
      ...(seenKeys === null ? {} : { keys: seenKeys }),
    });
    memory.save(next, keysOfRelease(target, trusted));
  }
  const pinned = trusted.trust !== 'any';
  const { from: shown = target, facts } = rest.fetched ?? {};
  if (json === true) {
    const machine = { target: shown, issuer_pinned: pinned, stale, ...report };
    return { exitCode, text: jsonText(facts === undefined ? machine : { ...machine, ...facts }) };
  }
  // What is stale is not verified, whatever holds of it.
  if (exitCode === EXIT.undecided && report.verdict === 'verified')
    return undecided(shown, stale ?? '', false);
  return { exitCode, text: releaseText(shown, report, { pinned, facts }) };
}

/** The list of a release that was verified, or the newer one of its reader. */
function keysOfRelease(target: string, trusted: Trust): KeyHistory | undefined {
  const faults = new Faults();
  const root = releaseRoot(nodeDisk, target, faults);
  return root === null ? undefined : releaseKeys({ ...trusted, disk: nodeDisk, root, faults }).keys;
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
  if (options.body !== undefined) return undecided(target, ONLY_OF_RECEIPTS, options.json === true);
  const body = bodyOfText(saved);
  const { now, policy, origin } = options;
  const catalog = catalogFor(body, trusted, options);
  const judged = verifyBody(body, { ...trusted, now, policy, origin, catalog, proof: 'noted' });
  const demanded = withDemands(judged, body, { ...options, catalog: catalog ?? BUILTIN });
  const report = expectingProof(demanded, options.expect);
  const pinned = trusted.trust !== 'any';
  const exitCode = exitOf(report.verdict);
  const { issuer: issuers = [], namedBy, verbose, json = false } = options;
  const text = json
    ? jsonText({ target, exit_code: exitCode, issuer_pinned: pinned, ...report })
    : bodyText(target, report, { pinned, issuers, namedBy, now, verbose });
  return { exitCode, text };
}

/** Judges the receipt of a sale; without a list of keys the verdict stays open. */
function judgeReceipt(
  jws: string,
  trusted: Trust,
  { body, expect, disk = nodeDisk, json = false }: VerifyCommandOptions,
): VerifyOutcome {
  const delivered = body === undefined ? undefined : readAll(disk.named(body), INPUT_BYTES_MAX);
  requireList(trusted);
  const report = verifyReceipt(jws, trusted, { body: delivered, expect });
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
    `Cannot use the catalogue of "${path}": of ${given.head.issuer_did}, and the body is signed by ${signer ?? 'nobody'}`,
  );
}

/** `verify --log DIR`: judges the whole log of a release, and that it grew from the checkpoints that were seen before. */
export function runVerifyLog(
  target: string,
  options: PolicyTrust & {
    issuer?: readonly string[];
    root?: readonly string[];
    /** A list of issuer keys that the reader keeps. */
    list?: KeyHistory | undefined;
    /** A list of issuer keys, or a release folder with one; it may know of a revocation that the release hides. */
    keys?: string;
    json?: boolean;
    /** The signed note of a checkpoint that was seen before. */
    since?: string | undefined;
    disk?: Disk;
  },
): VerifyOutcome {
  const { issuer, root, since, disk = nodeDisk, json: isJson = false, policy, now } = options;
  try {
    const trusted = trustedBy(issuer, root);
    const given = options.keys === undefined ? {} : givenKeys(disk, options.keys, trusted);
    const { keys } = newerKeys(options.list, given.keys);
    const why = noRelease(disk, target);
    if (why !== null) return undecided(target, why, isJson);
    const report = verifyLog(target, { ...trusted, keys, policy, now, since, disk });
    const pinned = trusted.trust !== 'any';
    const text = isJson
      ? jsonText({ target, issuer_pinned: pinned, ...report })
      : logText(target, report, pinned);
    return { exitCode: exitOf(report.verdict), text };
  } catch (error) {
    return undecided(target, messageOf(error), isJson);
  }
}

function logText(target: string, report: LogReport, pinned: boolean): string {
  return printed([
    firstLine(report.verdict, `log of ${target}`),
    ...faultLines(report),
    `  ${report.entries} entries hashed again`,
    `  ${report.records} published record hashes found in the index of what was taken in`,
    `  timestamps: ${report.anchors.confirmed} lead to a Bitcoin block (headers not checked), ${report.anchors.pending} pending`,
    ...witnessLines(report.witnessed),
    ...report.strays.slice(0, 1).map((stray) => `  note: nothing reads ${stray}`),
    ...evidenceLines(report.evidence),
    issuerLine(report.head?.issuer_did ?? null, pinned),
  ]);
}
