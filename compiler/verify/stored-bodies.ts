import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type FileEntry, parseVerifyEntry } from '../format/release.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import { FILERS_PATH, type FilerLine, parseFilerLine } from '../products/shapes/filing-index.ts';
import { verifyShardPath } from '../products/shapes/path.ts';
import { type Disk, readAll } from '../system/disk.ts';
import { type FileList, placeOfFile } from './file-list.ts';

export const BODY_BYTES_MAX = 67_108_864;
/** Bodies that stay in memory: the legs of a place are asked for by several bundles. */
const HELD_MAX = 64;

/** `damaged`: the file is not what the list says, which is named where the file itself is checked. */
export type StoredBody = JsonObject | 'absent' | 'damaged';

export class StoredBodies {
  readonly list: FileList;
  readonly #disk: Disk;
  readonly #root: string;
  readonly #held = new Map<string, StoredBody>();
  #filers: readonly FilerLine[] | null = null;

  constructor(disk: Disk, root: string, list: FileList) {
    this.list = list;
    this.#disk = disk;
    this.#root = root;
  }

  get(path: string): StoredBody {
    const held = this.#held.get(path);
    if (held !== undefined) return held;
    const entry = this.list.find(path);
    const body = entry === null ? 'absent' : this.#read(entry);
    if (this.#held.size >= HELD_MAX) this.#held.clear();
    this.#held.set(path, body);
    return body;
  }

  /** The text of a file that is no body; null for one that is missing or not as listed. */
  text(path: string): string | null {
    const bytes = this.bytes(path);
    return bytes === null ? null : decodeUtf8(bytes);
  }

  /** Of the release, parsed once: each file of a filer asks for all of them. */
  get filers(): readonly FilerLine[] {
    if (this.#filers === null) {
      const lines = (this.text(FILERS_PATH) ?? '').split('\n').slice(0, -1);
      this.#filers = lines.map(parseFilerLine);
    }
    return this.#filers;
  }

  /** The bytes of any file; null for one that is missing or not as listed. */
  bytes(path: string): Uint8Array | null {
    const entry = this.list.find(path);
    return entry === null ? null : this.#bytes(entry);
  }

  #read(entry: FileEntry): StoredBody {
    try {
      const bytes = this.#bytes(entry);
      const body: JsonValue = bytes === null ? null : parseJson(decodeUtf8(bytes));
      return isObject(body) ? body : 'damaged';
    } catch {
      return 'damaged';
    }
  }

  #bytes(entry: FileEntry): Uint8Array | null {
    const place = placeOfFile(this.#root, entry);
    const found = this.#disk.entry(place);
    if (found?.kind !== 'file' || found.size !== entry.size) return null;
    const bytes = readAll(this.#disk.chunks(place), BODY_BYTES_MAX);
    return bytesToHex(sha256(bytes)) === entry.sha256 ? bytes : null;
  }
}

/** Whether a release lists a statement, by `sha256:` of it: then its body is one of that release. */
export function isPublished(bodies: StoredBodies, statement: string): boolean {
  const shard = bodies.text(verifyShardPath(statement));
  return (shard ?? '').split('\n').some((line) => {
    return line.startsWith(`["${statement}"`) && parseVerifyEntry(line).kind === 'citation';
  });
}
