import { BUILTIN } from '../contract/catalog/builtin.ts';
import { withoutProof } from '../contract/citation.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../contract/series-csv.ts';
import { decodeUtf8, type JsonValue } from '../contract/strict-json.ts';
import { type BodyReport, canonicalHash, reason } from './body-check.ts';
import { type Demands, expectingProof, withDemands } from './demand-checks.ts';
import { type Disk, nodeDisk, readAll } from './disk.ts';
import { withFreshProof } from './fresh-proof.ts';
import { givenCatalog } from './given-catalog.ts';
import { type GivenKeys, givenKeys } from './given-keys.ts';
import { type Trusted, trustedBy } from './key-trust.ts';
import { openChunks } from './plain-file.ts';
import type { PolicyTrust } from './policy-check.ts';
import { isOfSigner } from './proven-catalog.ts';
import { receiptIn } from './receipt-text.ts';
import { parseMemory, remember } from './release-memory.ts';
import { bodyText, type FetchedFrom, receiptText, releaseText } from './report-text.ts';
import { CLOCK_SKEW_MS } from './request-time-checks.ts';
import { type BodyTrust, signerOf, statementOf, verifyBody } from './verify-body.ts';
import {
  EXIT,
  exitOf,
  jsonText,
  noRelease,
  undecided,
  type VerifyOutcome,
} from './verify-outcome.ts';
import { verifyReceipt } from './verify-receipt.ts';
import { type ReleaseReport, type VerifyProgress, verifyRelease } from './verify-release.ts';

/** Longest body that is read from a file or from standard input. */
export const INPUT_BYTES_MAX = 67_108_864;
/** An answer about one hash with a long core, and a checkpoint with many lines. */
const FRESH_PROOF_BYTES_MAX = 4_194_304;
const STDIN = 0;
/** Shorter than any receipt, and longer than the name of a file may be. */
const RECEIPT_CHARS_MIN = 300;
const ONLY_OF_BODIES =
  '--catalog is about a body; a release is judged by the catalogue that it carries';
const DEMANDS_OF_BODIES = '--expect and --max-age are about a body; name the file of one';
const PROOF_OF_BODIES =
  '--proof, --fresh-proof and --write-proof are about a body; name the file of one';
const NO_PROOF_THERE =
  'it came without a proof; buy it without proof=0, or leave --write-proof out';
const ONLY_OF_RECEIPTS =
  '--body and --payer are about a receipt; name its file, or pass the value of its header';
const NOT_OF_RECEIPTS =
  '--max-age, --catalog, --fresh-proof and --write-proof are about a body; leave them out for a receipt';
const ONLY_OF_RELEASES = '--remember is about releases; leave it out for a body';

/** For the help of the command. */
export const VERIFY_HELP = `
TARGET is a delivered body as saved (FILE), a release or data folder (DIR), or - for standard input.
Of these nothing is fetched: every hash and signature is recomputed here, without any socket.

Exit codes:
  0  verified; or partly verified: of a body in another issuer's form the citation alone, of a proof of the
     log the inclusion of its hash alone. Nothing signs the rest of it
  1  failed: a hash, a signature or a statement does not hold, or the issuer is not trusted
  2  cannot be judged: consistent but of an issuer that nobody named, unreadable, not JSON, nothing
     signed in it, stale, or wrong usage

With --remember a release must also follow from the newest one that was verified before: no older
one, no other of its number, a log that only grew, a list of keys that forgets nothing. A release
past its "valid_until" is stale: 2, with --remember or without. So is one that only a key signed which has ended since: whoever
has that key now may have made it. A key in use under its log shows its age, or (with --policy) witnesses.

With --keys a list of issuer keys (or a release, for its list and its log) tells which key follows
the trusted one, when each stopped, and which was revoked. What a revoked or retired key signed before counts
only if the log of that release, a release kept beside it, or (with --policy) witnesses of its own proof
show it to be older; of a retired key also a proof whose checkpoint a key still in use signed. Where they show that of
its readings alone, that is said, and the verdict is 2. Where nothing is shown, it is 2 too: whoever got hold of such a key dates
what he signs as he likes. Save /proof/HASH of the service and pass it with --fresh-proof; HASH is that of the citation, or, where the
log has no entry of it (a record), that of the reading, which is all that it proves.

A body that holds is described by what its issuer signed: subject, fact, the request that it answers, times, and its
age by the clock of this machine. --expect 'GET /gauge?signal_id=…&entity=…' demands that it answers this request: a true
body of another signal, entity, operation, form, cutoff or look-back fails (format=csv-signed is the same answer). With an address in front (https://…) it must
be of this service too. --max-age 2h (s, m, h or d) demands that the observation is no older. The time that counts is that of
the reading (records and add-ons), of the oldest reading or row (bundles, cities, censuses, rosters, documents), of the newest
row (series), or of the last look at the list of filings (settlement answers). A body that states no such time,
or that no single citation covers (a basket, a proof of the log), meets neither demand. One that fails anyway, or that nobody
signed, leaves both not judged.

--format json (or --json) prints the report as JSON: "verdict", "exit_code", "issuer", "about" (the description; null
for what does not hold), and in "checks" one entry for each check: "check" (its name), "where" (the place in the body),
"status" (pass, fail, or not_applicable: not judged), "detail".

A body that was bought brings the proof that it is in the transparency log of its issuer (the member "_proof", a
tlog-proof@v1 text of C2SP). It is judged with the body: a proof of anything else, of another log, or signed by nobody
that is known fails. A body that came without one cannot be judged (2): whoever carries it may have cut the proof out, or
the issuer may have kept it from everybody else. Buy it without proof=0, or pass a release folder with --keys, whose log
shows it. --proof fails it (1), --no-proof takes it.
--write-proof FILE writes the proof of a body that holds into a file of its own, for other programs.

With --policy FILE, in the tlog-policy format of C2SP (logs, witnesses, groups, quorum), the checkpoint of that proof, or of
the log of a release, must be signed by a log that the policy lists, if it lists any, and cosigned by the quorum of its
witnesses. One that is not fails, and so does a body without a proof. Who witnessed it, and when, is said.

With --catalog the readings of a body are judged by the catalogue of their publisher too: classes,
scales and ranges. It is the catalog.json of the service, with its release.json in the same folder
(both below /.well-known/), or a release folder. A catalogue that the issuer of the body did not
sign is refused. A publisher may change a catalogue: a body that the given release lists must agree
with it, and any other that differs is reported as made under another catalogue, and not judged.
Without one, signals that are not built in are reported as not judged.

A receipt that a service signed is judged in the same way: its file, the value of PAYMENT-RESPONSE, or the value itself
as TARGET. --keys is the list that names its key. --body FILE compares the delivered bytes, --expect the request,
--payer 0x… the account. Without --keys it is not judged: anybody can make a key.

--root names a root key of the issuer, as many of them as one version of its root needs (ROOTS.md): then every key that it
names is believed, and a list of --keys or of a release that is not under them is refused. Of --issuer it takes the place.

Without --issuer and --root the signature is checked against the key that the citation itself names. That
shows that nothing was altered since, not who signed, because anybody can make a key: the verdict
is "consistent, issuer unknown", exit code 2, whatever --keys lists. Pass the issuer that you
learnt from a source you trust; --issuer may be given more than once.
`;

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
  /** A list of issuer keys, or a release folder, whose log shows too what is older than a revocation. */
  readonly keys?: string;
  readonly json?: boolean;
  /** Whether a body that is not proven to be in the log fails, or is taken; by default it cannot be judged. */
  readonly proof?: boolean;
  /** The file of a proof that was fetched later: it takes the place of the one that came with the body. */
  readonly freshProof?: string;
  /** Takes the proof that came with a body which holds. */
  readonly writeProof?: (proof: string) => void;
  readonly disk?: Disk;
  /** All bytes of standard input. */
  readonly readStdin?: () => Uint8Array | Promise<Uint8Array>;
  readonly progress?: (step: VerifyProgress) => void;
  /** Worker threads for a release. */
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

/** A small file that remembers the newest release of each issuer. */
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
    return undecided(target, reason(error), isJson);
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
  const { catalog, expect, maxAgeMs, proof, freshProof, writeProof, body, payer } = options;
  if (body !== undefined || payer !== undefined) return ONLY_OF_RECEIPTS;
  if (catalog !== undefined) return ONLY_OF_BODIES;
  if (proof === true || (freshProof ?? writeProof) !== undefined) return PROOF_OF_BODIES;
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
  const seen = known === null ? {} : { seen: known.issuers };
  const clock = now === undefined ? {} : { now };
  const found = rest.fetched?.faults ?? [];
  const report = await verifyRelease(target, { ...rest, ...clock, ...seen, ...trusted, found });
  const stale = now === undefined ? null : staleness(report, now, memory !== undefined);
  const exitCode = releaseExit(report, stale);
  if (memory !== undefined && known !== null && exitCode === EXIT.verified) {
    memory.save(remembered(known, report));
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

function releaseExit({ verdict }: ReleaseReport, stale: string | null): VerifyOutcome['exitCode'] {
  return verdict === 'verified' && stale !== null ? EXIT.undecided : exitOf(verdict);
}

/** Why a release may be kept from being replaced or be dated back, or, where it is to be remembered, speaks of a time to come; null for none. */
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

function remembered(known: ReturnType<typeof parseMemory>, report: ReleaseReport): string {
  const { head, checkpoint, seenKeys } = report;
  if (head === null) throw new TypeError('Cannot remember a release: it has no head');
  const { sequence, as_of, issuer_did } = head;
  return remember(known, report.issuer ?? issuer_did, {
    sequence,
    as_of,
    head: canonicalHash(head),
    checkpoint,
    ...(seenKeys === null ? {} : { keys: seenKeys }),
  });
}

async function judgeFile(
  target: string,
  trusted: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  requireList(trusted);
  const saved = decodeUtf8(await readTarget(target, options));
  if (saved.startsWith(SERIES_CSV_HEADER))
    return undecided(target, UNSIGNED_CSV, options.json === true);
  const receipt = receiptIn(saved);
  if (receipt !== null) return judgeReceipt(receipt, trusted, options);
  if (options.body !== undefined || options.payer !== undefined)
    return undecided(target, ONLY_OF_RECEIPTS, options.json === true);
  const body = freshlyProven(bodyOfText(saved), options);
  const { now, policy } = options;
  const known = catalogFor(body, trusted, options);
  const proof = options.proof === true ? 'demanded' : 'noted';
  const given = {
    ...(now === undefined ? {} : { now }),
    ...(policy === undefined ? {} : { policy }),
  };
  const demanded = withDemands(verifyBody(body, { ...trusted, ...given, ...known, proof }), body, {
    ...options,
    catalog: known.judgedBy?.catalog ?? BUILTIN,
  });
  const report = options.proof === undefined ? expectingProof(demanded) : demanded;
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

/** The body with the proof of --fresh-proof, where one was passed. */
function freshlyProven(
  body: JsonValue,
  { freshProof: path, disk = nodeDisk }: VerifyCommandOptions,
): JsonValue {
  if (path === undefined) return body;
  if (disk.entry(path) === null)
    throw new RangeError(`Cannot read "${path}" of --fresh-proof: no such file`);
  return withFreshProof(body, decodeUtf8(readAll(disk.named(path), FRESH_PROOF_BYTES_MAX)));
}

/** False where a proof is to be written and there is none; that of a body which fails is kept by nobody. */
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

/** Judges the receipt of a sale; whoever keeps the list of keys back leaves it open. */
function judgeReceipt(
  jws: string,
  { anchors: _, ...trusted }: Trust,
  { body, payer, expect, disk = nodeDisk, json = false, ...rest }: VerifyCommandOptions,
): VerifyOutcome {
  const { maxAgeMs, catalog, freshProof, writeProof } = rest;
  if ([maxAgeMs, catalog, freshProof, writeProof].some((given) => given !== undefined))
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
): Pick<BodyTrust, 'judgedBy'> {
  if (path === undefined) return {};
  const given = givenCatalog(disk, path, trusted);
  const signer = signerOf(body);
  if (isOfSigner(given.head, signer, trusted.keys)) {
    const statement = statementOf(body);
    const isOfBody = statement !== null && given.lists(statement);
    return { judgedBy: { catalog: given.catalog, isOfBody } };
  }
  throw new RangeError(
    `Cannot use "${path}" of --catalog: of ${given.head.issuer_did}, and the body is signed by ${signer ?? 'nobody'}`,
  );
}

async function readTarget(target: string, options: VerifyCommandOptions): Promise<Uint8Array> {
  const { disk = nodeDisk, readStdin = () => readAll(openChunks(STDIN), INPUT_BYTES_MAX) } =
    options;
  return target === '-' ? await readStdin() : readAll(disk.named(target), INPUT_BYTES_MAX);
}
