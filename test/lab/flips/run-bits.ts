import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { storedPath } from '../../../compiler/contract/path.ts';
import {
  FILES_NAME,
  type FileEntry,
  formatFiles,
  parseFiles,
  RELEASE_NAME,
  type Release,
  releaseSchema,
} from '../../../compiler/contract/release.ts';
import { type Disk, nodeDisk } from '../../../compiler/verify/disk.ts';
import { FileList } from '../../../compiler/verify/file-list.ts';
import { Faults } from '../../../compiler/verify/release-fault.ts';
import { readHeadAlone } from '../../../compiler/verify/release-head.ts';
import { checkChunk } from '../../../compiler/verify/share-check.ts';
import { readBody } from '../../../gatekeeper/release/read-body.ts';
import type { FlipRelease } from './run-flips.ts';

const CANNOT_SIGN = (): boolean => false;

export interface BitOptions {
  readonly random: (below: number) => number;
  /** How many bits to change, about; of files, those of the smallest. */
  readonly bits: number;
}

interface WholeFileOptions extends BitOptions {
  /** Files of which every bit is changed, at least. */
  readonly wholeFiles: number;
  /** Of the head one bit of so many is changed. */
  readonly headStep: number;
}

interface BitResult {
  /** Changed bits: in files taken whole, one in each file, and in the head. */
  readonly whole: number;
  readonly each: number;
  readonly head: number;
  readonly wholeFiles: number;
  /** Changes that the verifier took for the file, or the gatekeeper would serve; and files that they do not take as they are. */
  readonly wrong: readonly string[];
}

/** Changes every bit of the smallest files, bits of the head, and one of every file, and asks verifier and gatekeeper. */
export async function runBits(release: FlipRelease, options: WholeFileOptions): Promise<BitResult> {
  const entries = parseFiles(readFileSync(join(release.root, FILES_NAME), 'utf8'));
  const files = entries.map((entry) => new JudgedFile(release.root, entry));
  const wrong: string[] = [];
  for (const file of files) if (!(await file.isTaken())) wrong.push(`${file.path} as it is`);
  const small = smallest(files, options);
  let whole = 0;
  for (const file of small) {
    for (let bit = 0; bit < file.bits; bit += 1) wrong.push(...(await file.flip(bit)));
    whole += file.bits;
  }
  for (const file of files) wrong.push(...(await file.flip(options.random(file.bits))));
  const head = flipHead(release, options.headStep);
  wrong.push(...head.wrong);
  return { whole, each: files.length, head: head.bits, wholeFiles: small.length, wrong };
}

function smallest(
  files: readonly JudgedFile[],
  { bits, wholeFiles }: WholeFileOptions,
): readonly JudgedFile[] {
  const bySize = [...files].sort((a, b) => a.bits - b.bits);
  let sum = 0;
  return bySize.filter((file, at) => {
    const isWanted = sum < bits || at < wholeFiles;
    sum += file.bits;
    return isWanted;
  });
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
    const context = { disk: this.#disk, root: this.#root, head: headOf(this.#root), known: null };
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
