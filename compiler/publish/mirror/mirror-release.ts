import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOG_URL, RELEASE_URL, STATIC_FILES } from '../../catalog/static-files.ts';
import { plainAddress } from '../../format/addresses.ts';
import { answerBytes, LongAnswerError } from '../../format/answer-bytes.ts';
import { KEYS_PATH } from '../../format/key-history.ts';
import {
  CONTRACT_VERSION,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  HEAD_BYTES_MAX,
  isPublicPath,
  PUBLIC_LIST_URL,
  parseFiles,
  RELEASE_NAME,
  type Release,
  releaseName,
} from '../../format/release.ts';
import { decodeUtf8 } from '../../format/strict-json.ts';
import { TABLE } from '../../products/products.ts';
import { knownFilePath, type Values } from '../../products/shapes/path.ts';
import type { Clock } from '../../system/clock.ts';
import { lockData } from '../../system/data-lock.ts';
import { nodeDisk } from '../../system/disk.ts';
import { errorText } from '../../system/error-text.ts';
import { givenKeys } from '../../verify/given-keys.ts';
import { believedDids, type KeyTrust, trustedBy } from '../../verify/key-trust.ts';
import { asked, type Fetch, type LogClient, logClient } from '../../verify/monitor/log-client.ts';
import { Faults, type ReleaseFault } from '../../verify/release-fault.ts';
import { readHead, releaseKeys } from '../../verify/release-head.ts';
import { EXIT, undecided, type VerifyOutcome } from '../../verify/report-text.ts';
import { signedHead } from '../../verify/signed-head.ts';
import {
  type MemoryFile,
  misuseOfFolder,
  runVerify,
  type VerifyCommandOptions,
} from '../../verify/verify-command.ts';
import type { VerifyProgress } from '../../verify/verify-release.ts';
import {
  type FetchBy,
  type Fetched,
  fetchFiles,
  LIST_BYTES_MAX,
  MirrorFolder,
  patiently,
  settled,
  type Ungiven,
  waitFor,
} from './mirror-folder.ts';
import { type MirroredLog, mirrorLog } from './mirror-log.ts';

/** More than any shop gives away. */
const FILES_MAX = 2_000_000;
const FILE_BYTES_MAX = 2 ** 30;
const ALL_BYTES_MAX = 64 * 2 ** 30;
/** How many releases may come while one is fetched. */
const HEADS_MAX = 5;
const PAUSE_MS = 1000;
/** A cache in front may show what an earlier release described for a minute: a gatekeeper lets it. */
const CACHED_MS = 61_000;
/** All answers together may take so long, and so much longer for each file and for its bytes. */
const TOTAL_MS = 600_000;
const FILE_MS = 250;
const BYTES_A_MS = 64;

export interface MirrorBy extends KeyTrust {
  readonly address: string;
  readonly folder: MirrorFolder;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly progress: (step: VerifyProgress) => void;
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** Longest wait for an answer beside what its bytes take, in milliseconds. */
  readonly answerMs: number;
}

/** What one look at a service fetched and found. */
interface Found {
  /** Files that were here already. */
  held: number;
  /** Descriptions that were compared with what stands where clients read them. */
  compared: number;
  readonly fetched: Fetched;
  log: MirroredLog;
  /** Descriptions that are other than the listed ones, by their URLs. */
  readonly odd: ReleaseFault[];
  /** Those that are not given: nobody is deceived by them. */
  readonly undescribed: Ungiven[];
}

interface Mirrored {
  readonly root: string;
  readonly name: string;
  readonly listed: readonly FileEntry[];
  readonly found: Found;
}

function nothingFound(): Found {
  const fetched = { files: 0, bytes: 0, resumed: 0, ungiven: [] };
  const log = { files: 0, bytes: 0, faults: [] };
  return { held: 0, compared: 0, fetched, log, odd: [], undescribed: [] };
}

/** Throws a RangeError for a service that cannot be mirrored, and an UnreachableError where it does not answer. */
async function mirrorRelease(by: MirrorBy): Promise<Mirrored> {
  const { address, fetch, clock, answerMs, signal } = by;
  const client = logClient(address, { fetch, clock, totalMs: TOTAL_MS, answerMs });
  let before = '';
  const sum = { files: 0, bytes: 0, resumed: 0 };
  for (let round = 1; round <= HEADS_MAX; round += 1) {
    const bytes = await client.get(RELEASE_URL, HEAD_BYTES_MAX);
    if (bytes === null)
      throw refused(by, `no release at ${RELEASE_URL}; name the address of a shop`);
    const sha256 = hash('sha256', bytes, 'hex');
    // Another head says why something is not there, or another; the same one a second time says that it is so.
    const isSame = sha256 === before;
    const mirrored = await mirrorHead({ bytes, sha256, isSame }, client, by);
    const { fetched, odd } = mirrored?.found ?? nothingFound();
    for (const name of ['files', 'bytes', 'resumed'] as const) sum[name] += fetched[name];
    const isWhole = fetched.ungiven.length + odd.length === 0;
    if (mirrored !== null && (isSame || isWhole)) {
      return { ...mirrored, found: { ...mirrored.found, fetched: { ...fetched, ...sum } } };
    }
    before = sha256;
    await clock.sleep(odd.length > 0 ? CACHED_MS : PAUSE_MS, signal);
  }
  throw refused(by, 'its head changed each time that it was asked for; try again later');
}

function refused({ address }: Pick<MirrorBy, 'address'>, state: string): RangeError {
  return new RangeError(`Cannot mirror ${address}: ${state}`);
}

/** What a head lists, fetched; null where the list is not that of the head, as while a newer release comes. */
async function mirrorHead(
  { bytes, sha256, isSame }: { bytes: Uint8Array; sha256: string; isSame: boolean },
  client: LogClient,
  by: MirrorBy,
): Promise<Mirrored | null> {
  const { folder } = by;
  const head = signedHead(bytes, { trust: 'any' }, () => undefined);
  if (head === null) throw refused(by, `${RELEASE_URL} is not the head of a release`);
  const stated = boundsOf(head, by);
  // Two heads of one number must not take each other's place.
  const name = `${releaseName(head)}-${sha256.slice(0, 8)}`;
  const list = await client.get(PUBLIC_LIST_URL, stated.listBytes);
  const isSigned = list !== null && `sha256:${hash('sha256', list, 'hex')}` === stated.sha256;
  if (!isSigned && !isSame) return null;
  if (list === null) throw refused(by, `it gives no list at ${PUBLIC_LIST_URL}`);
  folder.dropReleases(name);
  folder.put(name, RELEASE_NAME, bytes);
  folder.put(name, FILES_NAME, list);
  const root = folder.rootOf(name);
  if (!isSigned) return { root, name, listed: [], found: nothingFound() };
  const listed = parseFiles(decodeUtf8(list));
  const odd = listed.find(({ path }) => !isPublicPath(path));
  if (odd !== undefined) throw refused(by, `its public list names "${odd.path}", which is sold`);
  const longest = listed.reduce((most, { size }) => Math.max(most, size), 0);
  const total = listed.reduce((sum, { size }) => sum + size, 0);
  if (longest > FILE_BYTES_MAX || total > ALL_BYTES_MAX) {
    throw refused(by, `its list states ${total} bytes, ${longest} in one file; that is too much`);
  }
  return { root, name, listed, found: await fetchListed(listed, root, { ...by, client }) };
}

/** What a head states of its public list; throws for numbers that nobody publishes. */
function boundsOf({ contract_version: version, ...head }: Release, by: MirrorBy) {
  const { public_files: open, sequence } = head;
  if (version !== CONTRACT_VERSION) {
    throw refused(
      by,
      `release ${sequence} is of version ${version}, this program reads ${CONTRACT_VERSION}`,
    );
  }
  if (open === undefined) {
    throw refused(
      by,
      `release ${sequence} is from before public lists, so strangers cannot check it; it can be verified as a folder, or once it is compiled again`,
    );
  }
  if (open.count > FILES_MAX) {
    throw refused(
      by,
      `its head states ${open.count} files; more than ${FILES_MAX} are not fetched`,
    );
  }
  const listBytes = Math.min(LIST_BYTES_MAX, open.count * FILE_LINE_BYTES_MAX);
  return { sha256: open.sha256, listBytes };
}

/** Fetches what is not there. The keys come first: who did not sign the head for the issuer is not listened to any longer. */
async function fetchListed(
  listed: readonly FileEntry[],
  root: string,
  by: MirrorBy & { readonly client: LogClient },
): Promise<Found> {
  const { folder, clock, progress } = by;
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  const end = clock.steady() + TOTAL_MS + listed.length * FILE_MS + bytes / BYTES_A_MS;
  const how: FetchBy = { ...by, end };
  const found = nothingFound();
  const keys = listed.filter((entry) => entry.path === KEYS_PATH && !folder.holds(entry));
  await fetchFiles(keys, how, found.fetched);
  const keyed = { ...by, ...releaseKeys({ ...by, disk: nodeDisk, root, faults: new Faults() }) };
  const faults = new Faults();
  const head = readHead({ ...keyed, disk: nodeDisk, root, faults });
  if (faults.count > 0) return found;
  // Before the files: the log is never behind the release.
  const issuers = believedDids(keyed, head?.issuer_did);
  found.log = await mirrorLog({ ...by, data: folder.path, issuers });
  folder.dropFiles(listed);
  const refusedKeys = new Set(found.fetched.ungiven.map(({ path }) => path));
  const other = listed.filter(({ path }) => !refusedKeys.has(path));
  const here = new Set(other.filter((entry) => folder.holds(entry)));
  const wanted = other.filter((entry) => !here.has(entry));
  found.held = [...here].filter((entry) => !folder.hasCome(entry)).length;
  const total = listed.length;
  await fetchFiles(wanted, how, found.fetched, (done) =>
    progress({ done: total - wanted.length + done, total, label: 'fetching' }),
  );
  await compareDescriptions(listed, how, found);
  return found;
}

/** What programs read of a service. Pages for people are left out, since a host may add to them; the log, since it grows. */
function describedUrls() {
  const files = STATIC_FILES.filter(({ url, summary, rel, site }) => {
    return (summary ?? rel) !== undefined && site !== true && url !== LOG_URL;
  });
  const rows = TABLE.filter(({ file }) => file?.startsWith('well-known/') === true);
  const forms = rows.flatMap((row) =>
    formsOf(row.params).map((values) => {
      const query = new URLSearchParams(values).toString();
      const url = query === '' ? row.path : `${row.path}?${query}`;
      return { url, path: knownFilePath(row, values) };
    }),
  );
  return [...files, ...forms];
}

/** The usual form, and each that one parameter chooses. */
function formsOf(
  params: Readonly<Record<string, { readonly variant?: Readonly<Record<string, string>> }>>,
): Values[] {
  const chosen = Object.entries(params).flatMap(([name, { variant }]) =>
    Object.keys(variant ?? {}).map((value) => ({ [name]: value })),
  );
  return [{}, ...chosen];
}

/** Asks for each description once, and compares it with what the release lists. Throws an UnreachableError. */
async function compareDescriptions(
  listed: readonly FileEntry[],
  by: FetchBy,
  found: Found,
): Promise<void> {
  const byPath = new Map(listed.map((entry) => [entry.path, entry]));
  for (const { url, path } of describedUrls()) {
    const entry = byPath.get(path);
    if (entry === undefined) continue;
    const { sha256, refusal } = await patiently(by, () => {
      const asking = { fetch: by.fetch, waitMs: waitFor(entry.size, by), signal: by.signal };
      return asked(by.address + url, asking, async (response) => {
        if (response.status !== 200) return { sha256: null, refusal: await settled(response) };
        return { sha256: await hashWithin(response, entry.size), refusal: null };
      });
    });
    const detail = 'served in another form than the release lists';
    if (refusal !== null) found.undescribed.push({ path: url, detail: refusal });
    else found.compared += 1;
    if (refusal === null && entry.sha256 !== sha256)
      found.odd.push({ file: url, where: '', detail });
  }
}

async function hashWithin(response: Response, max: number): Promise<string | null> {
  try {
    return hash('sha256', await answerBytes(response, max), 'hex');
  } catch (error) {
    if (error instanceof LongAnswerError) return null;
    throw error;
  }
}

const ANSWER_MS = 30_000;
const NOT_GIVEN_MAX = 20;
const SEEN_NAME = 'verified.json';

/** What `verify` needs for an address beside what it needs for a folder. */
export interface AddressOptions extends VerifyCommandOptions {
  /** Where what was fetched stays; without one it goes when all is done. */
  readonly mirror: string | undefined;
  /** A file that remembers what was verified, where no other one is given. */
  readonly memoryAt: (path: string) => MemoryFile;
  readonly fetch: Fetch;
  /** Calls once when the process is told to end; returns what takes that back. */
  readonly onStop: (stop: () => void) => () => void;
  readonly clock: MirrorBy['clock'];
  /** Longest wait for an answer beside what its bytes take, in milliseconds. */
  readonly answerMs?: number;
}

/** `verify URL`: fetches what anybody may have of the release of a service, and judges it as a folder. */
export async function verifyAddress(
  target: string,
  { mirror, memoryAt, fetch, onStop, clock, answerMs = ANSWER_MS, ...options }: AddressOptions,
): Promise<VerifyOutcome> {
  const misuse = misuseOfFolder(options);
  if (misuse !== null) return undecided(target, misuse, options.json === true);
  const stop = new AbortController();
  const forget = onStop(() => stop.abort());
  const folder = mirror ?? mkdtempSync(join(tmpdir(), 'signalpress-mirror-'));
  try {
    const address = addressOf(target);
    const unlock = lockData(folder);
    // No older release takes the place of what a mirror holds, and no other history.
    const isKept = mirror !== undefined && options.memory === undefined;
    const remembering = isKept ? { memory: memoryAt(join(folder, SEEN_NAME)) } : {};
    try {
      const world = { address, fetch, clock, answerMs, signal: stop.signal };
      return await judge({ ...options, ...remembering }, folder, world);
    } finally {
      unlock();
    }
  } catch (error) {
    return undecided(target, errorText(error), options.json === true);
  } finally {
    forget();
    if (mirror === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whoever is on the way could keep a newer release back, so only this machine is asked without TLS. */
function addressOf(text: string): string {
  const address = plainAddress(text);
  if (address?.isSafe === true) return address.href;
  throw new RangeError(
    `Cannot verify "${text.slice(0, 200)}": not an address such as https://signals.example.org; only a loopback address may be http`,
  );
}

async function judge(
  options: VerifyCommandOptions,
  folder: string,
  world: Pick<MirrorBy, 'address' | 'fetch' | 'clock' | 'answerMs' | 'signal'>,
): Promise<VerifyOutcome> {
  const { address, clock } = world;
  const { issuer, root, keys, progress = () => undefined } = options;
  const trusted = trustedBy(issuer, root);
  const { keys: given } = keys === undefined ? {} : givenKeys(nodeDisk, keys, trusted);
  const known = given === undefined ? trusted : { ...trusted, keys: given };
  const held = new MirrorFolder(folder, address);
  const started = clock.steady();
  const mirrored = await mirrorRelease({ ...known, ...world, folder: held, progress });
  const seconds = (clock.steady() - started) / 1000;
  const { fetched: come, log, odd, undescribed, held: had, compared } = mirrored.found;
  const notGiven = [...come.ungiven, ...undescribed].slice(0, NOT_GIVEN_MAX);
  const fetched = {
    from: address,
    facts: {
      fetched_files: come.files + log.files,
      fetched_bytes: come.bytes + log.bytes,
      resumed_files: come.resumed,
      held_files: had,
      compared_descriptions: compared,
      seconds: Math.round(seconds * 10) / 10,
      not_given: notGiven.map(({ path, detail }) => `${path}: ${detail}`),
    },
    faults: [...odd, ...log.faults],
  };
  const outcome = await runVerify(mirrored.root, { ...options, fetched });
  // What fails stays beside what was held before, for whoever wants to look; so does what cannot be judged beside what was verified.
  const isFirst = outcome.exitCode === EXIT.undecided && (options.memory?.text ?? null) === null;
  if (isFirst || outcome.exitCode === EXIT.verified) {
    held.keepOnly(mirrored.name, mirrored.listed);
  }
  return outcome;
}
