import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { type Citation, citedTarget } from '../../../compiler/format/citation.ts';
import {
  FILES_NAME,
  type FileEntry,
  formatFiles,
  parseFiles,
  RELEASE_NAME,
  type Release,
  releaseSchema,
} from '../../../compiler/format/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../../../compiler/format/strict-json.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { type Disk, nodeDisk } from '../../../compiler/system/disk.ts';
import { bulkSignatureCheck } from '../../../compiler/verify/bulk-signature.ts';
import { FileList } from '../../../compiler/verify/file-list.ts';
import { KnownHashes } from '../../../compiler/verify/known-hashes.ts';
import { Faults } from '../../../compiler/verify/release-fault.ts';
import { readHeadAlone } from '../../../compiler/verify/release-head.ts';
import { placeOf } from '../../../compiler/verify/release-index.ts';
import { checkChunk } from '../../../compiler/verify/share-check.ts';
import { type BodyTrust, verifyBody } from '../../../compiler/verify/verify-body.ts';
import { verifyLog } from '../../../compiler/verify/verify-log.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { readBody } from '../../../gatekeeper/heart/release/read-body.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { compiledService, question } from '../../gatekeeper/tiny-service.ts';
import { campaign } from '../campaign.ts';
import { changedDisk, type FlipRelease, logPlaces, smallData } from './flips.ts';

const WHOLE_FILES = 50;
/** The whole log is judged for each of its bits. */
const LOG_BITS = 1000;
/** A body is hashed, parsed and its signature checked, which takes far longer than a hash alone. */
const BODY_SHARE = 10;

/**
 * Changes every bit of the smallest files, one of every file, all of the head, many of the log, and a tenth as many of one
 * delivered body of each operation, its proof among them; nobody may take one of them for the original (I24).
 */
export const experiment = campaign(
  { seed: 24, bits: 1_000_000 },
  async ({ flags: { seed, bits }, folder, random, say }) => {
    const release = await smallData(folder);
    const files = await runBits(release, {
      random,
      bits,
      wholeFiles: WHOLE_FILES,
      headStep: 1,
      logBits: LOG_BITS,
    });
    const { whole, wholeFiles, each, head, log } = files;
    say(
      `seed ${seed}: ${whole} bits of ${wholeFiles} whole files, one of each of ${each} files, ` +
        `${head} of the head, ${log} of the log`,
    );
    const delivered = await runBodyBits(release, { random, bits: bits / BODY_SHARE });
    const { bodies, bits: changed, sameValue, notCovered } = delivered;
    say(
      `${changed} bits of ${bodies} delivered bodies; verified all the same: ${sameValue} that say the same, ` +
        `members outside every hash ${JSON.stringify(notCovered)}`,
    );
    return [...files.wrong, ...delivered.wrong];
  },
);

/** What was taken in is not asked here: damage alone counts. */
const NOTHING_KNOWN = new KnownHashes(new SharedArrayBuffer(0));
const CANNOT_SIGN = (): boolean => false;

interface BitOptions {
  readonly random: (below: number) => number;
  /** How many bits to change, about; of files, those of the smallest. */
  readonly bits: number;
}

/**
 * Changes every bit of the smallest files, bits of the head and of the log, and one of every file, and asks verifier and
 * gatekeeper.
 */
export async function runBits(
  release: FlipRelease,
  options: BitOptions & {
    /** Files of which every bit is changed, at least. */
    readonly wholeFiles: number;
    /** Of the head one bit of so many is changed. */
    readonly headStep: number;
    /** So many bits of each file of the log are changed. */
    readonly logBits: number;
  },
) {
  const entries = parseFiles(readFileSync(join(release.root, FILES_NAME), 'utf8'));
  const files = entries.map((entry) => new JudgedFile(release.root, entry));
  /** Changes that the verifier took for the file, or the gatekeeper would serve; and files that they do not take as they are. */
  const wrong: string[] = [];
  for (const file of files) if (!(await file.isTaken())) wrong.push(`${file.path} as it is`);
  let sum = 0;
  const bySize = [...files].sort((a, b) => a.bits - b.bits);
  const small = bySize.filter(({ bits }, at) => {
    const isWanted = sum < options.bits || at < options.wholeFiles;
    sum += bits;
    return isWanted;
  });
  let whole = 0;
  for (const file of small) {
    for (let bit = 0; bit < file.bits; bit += 1) wrong.push(...(await file.flip(bit)));
    whole += file.bits;
  }
  for (const file of files) wrong.push(...(await file.flip(options.random(file.bits))));
  const head = flipHead(release, options.headStep);
  const log = flipLog(release, { ...options, bits: options.logBits });
  wrong.push(...head.wrong, ...log.wrong);
  const own = { head: head.bits, log: log.bits };
  return { whole, each: files.length, ...own, wholeFiles: small.length, wrong };
}

/** One listed file, judged by itself as the verifier judges a piece of the list, and as the gatekeeper reads it. */
class JudgedFile {
  readonly path: string;
  readonly bits: number;
  readonly #root: string;
  readonly #entry: FileEntry;
  readonly #bytes: Buffer;
  readonly #list: FileList;
  readonly #disk: Disk;

  constructor(root: string, entry: FileEntry) {
    this.path = entry.path;
    this.#root = root;
    this.#entry = entry;
    this.#bytes = readFileSync(join(root, '../..', storedPath(entry.path, entry.sha256)));
    this.bits = this.#bytes.length * 8;
    const line = Buffer.from(formatFiles([entry]));
    const shared = new SharedArrayBuffer(line.length);
    new Uint8Array(shared).set(line);
    this.#list = new FileList(shared);
    this.#disk = { ...nodeDisk, chunks: () => [this.#bytes] };
  }

  /** Whether the verifier finds nothing at the file, and the gatekeeper serves it. */
  async isTaken(): Promise<boolean> {
    return this.#isVerified() && (await this.#isServed());
  }

  /** What is wrong about one changed bit: nothing, when it is found by both. */
  async flip(bit: number): Promise<string[]> {
    this.#turn(bit);
    const verified = this.#isVerified() ? [`${this.path} bit ${bit}: verified`] : [];
    const served = (await this.#isServed()) ? [`${this.path} bit ${bit}: served`] : [];
    this.#turn(bit);
    return [...verified, ...served];
  }

  #turn(bit: number): void {
    const at = bit >> 3;
    this.#bytes[at] = (this.#bytes[at] ?? 0) ^ (1 << (bit & 7));
  }

  #isVerified(): boolean {
    const context = {
      disk: this.#disk,
      root: this.#root,
      head: headOf(this.#root),
      known: NOTHING_KNOWN,
    };
    const of = { ...context, list: this.#list, catalog: BUILTIN, ownTables: true };
    const { damaged } = checkChunk({ ...of, isSignature: CANNOT_SIGN }, 0);
    return damaged === 0;
  }

  async #isServed(): Promise<boolean> {
    try {
      await readBody('', this.#entry, () => Promise.resolve(this.#bytes));
      return true;
    } catch {
      return false;
    }
  }
}

const heads = new Map<string, Release>();
function headOf(root: string): Release {
  const head =
    heads.get(root) ??
    releaseSchema.parse(JSON.parse(readFileSync(join(root, RELEASE_NAME), 'utf8')));
  heads.set(root, head);
  return head;
}

function flipHead({ root, did }: FlipRelease, step: number): { bits: number; wrong: string[] } {
  const bytes = readFileSync(join(root, RELEASE_NAME));
  const wrong: string[] = [];
  let bits = 0;
  for (let bit = 0; bit < bytes.length * 8; bit += step, bits += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const faults = new Faults();
    const disk = { ...nodeDisk, chunks: () => [changed] };
    readHeadAlone({ disk, root, trust: [did], faults });
    if (faults.count === 0) wrong.push(`${RELEASE_NAME} bit ${bit}: verified`);
  }
  return { bits, wrong };
}

function flipLog(
  { root, did }: FlipRelease,
  { bits: most, random }: BitOptions,
): { bits: number; wrong: string[] } {
  const wrong: string[] = [];
  let bits = 0;
  for (const place of logPlaces(root)) {
    for (const bit of bitsOf(readFileSync(place), most, random)) {
      bits += 1;
      const change = { path: place, at: bit >> 3, mask: 1 << (bit & 7) };
      const disk = changedDisk((path) => (resolve(path) === place ? change : undefined));
      const { verdict } = verifyLog(root, { trust: [did], disk });
      if (verdict !== 'failed') wrong.push(`${place} bit ${bit}: ${verdict}`);
    }
  }
  return { bits, wrong };
}

/** Bodies are asked for at this instant, long enough after their facts for every member of the moment. */
const ASKED_AT = Date.UTC(2027, 6, 1);
/**
 * The age at another moment of which all words are true too, and the look-back of a series, which its rows only have to
 * agree with.
 */
const NOT_COVERED = /\.provenance\.answered_at$|^\.days$/;

interface BodyBitResult {
  bodies: number;
  bits: number;
  /** Changes that still verify and say the same: another spelling of the same value. */
  sameValue: number;
  /** Changes that still verify, by the member outside every hash that they are in. */
  readonly notCovered: Record<string, number>;
  /** Changes of anything else that still verify. */
  readonly wrong: string[];
}

/** Changes bits of the smallest signed body of each operation as it is delivered, and verifies it without its release. */
export async function runBodyBits(
  release: FlipRelease,
  { random, bits }: BitOptions,
): Promise<BodyBitResult> {
  const isSignature = bulkSignatureCheck();
  const trust: BodyTrust = { trust: [release.did], proof: 'demanded', isSignature };
  const result: BodyBitResult = { bodies: 0, bits: 0, sameValue: 0, notCovered: {}, wrong: [] };
  const bodies = await signedBodies(release, trust);
  for (const [operation, bytes] of bodies) {
    const body = parseJson(decodeUtf8(bytes));
    result.bodies += 1;
    for (const bit of bitsOf(bytes, Math.ceil(bits / bodies.size), random)) {
      result.bits += 1;
      const changed = verifiedChange(bytes, bit, trust);
      if (changed === undefined) continue;
      count(result, `${operation} bit ${bit}`, differences(body, changed));
    }
  }
  return result;
}

/** Every bit where there are no more than wanted, else as many random ones. */
function* bitsOf(bytes: Buffer, most: number, random: BitOptions['random']): Generator<number> {
  const all = bytes.length * 8;
  for (let at = 0; at < Math.min(all, most); at += 1) yield all <= most ? at : random(all);
}

/** A change that verified, by the members that it changed. */
function count(result: BodyBitResult, named: string, members: readonly string[]): void {
  if (members.length === 0) result.sameValue += 1;
  for (const member of members) {
    const name = member.slice(member.lastIndexOf('.') + 1);
    if (NOT_COVERED.test(member)) result.notCovered[name] = (result.notCovered[name] ?? 0) + 1;
    else result.wrong.push(`${named}: ${member}`);
  }
}

/** The smallest body of each operation that verifies by itself, with its proof. */
async function signedBodies(
  { root }: FlipRelease,
  trust: BodyTrust,
): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const service = await compiledService(join(root, '../..'), ASKED_AT);
  const entries = parseFiles(readFileSync(join(root, FILES_NAME), 'utf8'));
  for (const { path, sha256 } of [...entries].sort((a, b) => a.size - b.size)) {
    const operation = placeOf(path, BUILTIN)?.endpoint.path;
    if (operation === undefined || found.has(operation) || !path.endsWith('.json')) continue;
    const stored = JSON.parse(
      readFileSync(join(root, '../..', storedPath(path, sha256)), 'utf8'),
    ) as { readonly _citation?: Citation; readonly sample?: unknown };
    const cited = stored._citation === undefined ? null : citedTarget(stored._citation);
    const target = stored.sample === undefined ? cited : operation;
    if (target === null) continue;
    const asked = question(target);
    const answered = await answer(asked, service);
    if (answered.kind !== 'content') continue;
    const { body } = await proven(answered.content, asked, service);
    if (verifyBody(parseJson(decodeUtf8(body)), trust).verdict !== 'verified') continue;
    found.set(operation, body);
  }
  return found;
}

/** The body with one changed bit, where it verifies; undefined where that is noticed. */
function verifiedChange(bytes: Buffer, bit: number, trust: BodyTrust): JsonValue | undefined {
  const changed = Buffer.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  let body: JsonValue;
  try {
    body = parseJson(decodeUtf8(changed));
  } catch {
    return undefined;
  }
  return verifyBody(body, trust).verdict === 'verified' ? body : undefined;
}

/** Paths of the members in which two values differ; a member that only one has counts. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other) ? [] : [path];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => differences(one[key], other[key], `${path}.${key}`));
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
