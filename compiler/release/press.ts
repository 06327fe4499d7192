import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Catalog } from '../catalog/catalog.ts';
import type { Citation } from '../format/citation.ts';
import {
  CODINGS,
  type Coding,
  type CurrentEntry,
  type FileEntry,
  formatVerifyEntry,
  isPacked,
  packedPath,
} from '../format/release.ts';
import type { EndpointPath } from '../products/products.ts';
import { knownFilePath, type Values } from '../products/shapes/path.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import { citationOf, type Issuer, type Sealer } from '../system/sealer.ts';
import type { FileWriter } from './file-writer.ts';
import type { Leaf, LeafStore } from './leaf-store.ts';
import { type ListedStatement, statementOf } from './statement-list.ts';
import type { VerifyShards } from './verify-shards.ts';

/** Where the stages after the signals put what they make; nothing else writes into a release. */
export interface Press {
  readonly catalog: Catalog;
  readonly issuer: Issuer;
  readonly sealer: Sealer;
  /** The instant the compile speaks about, ISO-8601 UTC. */
  readonly asOf: string;
  /** Writes the body of an operation to the file of its row; its citation becomes a look-up entry. */
  put(path: EndpointPath, values: Values, body: object): void;
  /** Writes a signed body that is about an entity to a path that no operation spells; its citation becomes a look-up entry too. */
  putSigned(path: string, entity: string, body: { readonly _citation: Citation }): void;
  /** Writes a file whose path no operation spells: an index, a tile, a description. */
  file(path: string, content: string | Uint8Array): void;
  /** The same for a free file; one that is long is written under each coding too. */
  pack(path: string, content: string | Uint8Array): void;
  /**
   * Writes files and look-ups that follow from what `digest` is of, and puts no leaf: those of the previous release stand
   * where it had the same group of that digest.
   */
  group(name: string, digest: string, write: () => void): void;
  /** Says what a record hash stands for that the release carries now. */
  lookUp(entry: CurrentEntry): void;
  /** Puts a record hash into the log, unless it is there. */
  leaf(leaf: Leaf): void;
}

export interface CountedPress extends Press {
  readonly files: readonly FileEntry[];
  /** Statements of bodies, each with its file. */
  readonly statements: readonly (readonly [file: string, statement: ListedStatement])[];
  /** Look-up lines, each with the file whose citation it is about, '' for any other. */
  readonly lookUps: readonly (readonly [file: string, line: string])[];
  /** What the next compile is to know of the groups. */
  groups(): string;
}

/** What a digest stands for. */
interface Group {
  readonly digest: string;
  readonly paths: readonly string[];
  readonly lookUps: CountedPress['lookUps'];
  readonly statements: CountedPress['statements'];
}

interface PressParts {
  readonly catalog: Catalog;
  readonly issuer: Issuer;
  readonly sealer: Sealer;
  readonly asOf: string;
  readonly writer: FileWriter;
  readonly shards: VerifyShards;
  readonly leaves: LeafStore;
  /** Files of the previous release, where this one goes on from it: what is packed there is not packed again. */
  readonly before?: (path: string) => FileEntry | null;
  /** Its groups, as `groups()` gave them; only where this one goes on from it. */
  readonly groupsBefore?: string;
}

export function makePress(parts: PressParts): CountedPress {
  const { catalog, issuer, sealer, asOf, writer, shards, leaves, before = () => null } = parts;
  const files: FileEntry[] = [];
  const lookUps: (readonly [string, string])[] = [];
  const statements: (readonly [string, ListedStatement])[] = [];
  const write = (path: string, content: string | Uint8Array): FileEntry => {
    const entry = writer.write(path, content);
    files.push(entry);
    return entry;
  };
  const pack: Press['pack'] = (path, content) => {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    const entry = write(path, bytes);
    if (isPacked(bytes)) files.push(...packedFiles({ entry, bytes }, writer, before));
  };
  const lookUp: Press['lookUp'] = (entry) => {
    const line = formatVerifyEntry(entry);
    shards.add(line);
    lookUps.push([entry.kind === 'citation' ? entry.file : '', line]);
  };
  const cite = (place: string, entity: string, citation: Citation): void => {
    statements.push([place, statementOf(citation)]);
    lookUp(citationEntry(place, entity, citation));
  };
  const known = new Map<string, Group>(JSON.parse(parts.groupsBefore ?? '[]'));
  const groups = new Map<string, Group>();
  /** Files of a group that stand; null where one is not listed any more. */
  const standing = ({ paths }: Group): FileEntry[] | null => {
    const entries = paths.flatMap((path) => before(path) ?? []);
    return entries.length === paths.length ? entries : null;
  };
  return {
    catalog,
    issuer,
    sealer,
    asOf,
    files,
    lookUps,
    statements,
    file: write,
    pack,
    lookUp,
    putSigned(path, entity, body) {
      write(path, JSON.stringify(body));
      cite(path, entity, body._citation);
    },
    groups: () => JSON.stringify([...groups]),
    leaf: (leaf) => leaves.add(leaf),
    group(name, digest, make) {
      const group = known.get(name);
      const entries = group?.digest === digest ? standing(group) : null;
      if (group !== undefined && entries !== null) {
        files.push(...entries);
        for (const [, line] of group.lookUps) shards.add(line);
        lookUps.push(...group.lookUps);
        statements.push(...group.statements);
        groups.set(name, group);
        return;
      }
      const from = { files: files.length, lookUps: lookUps.length, statements: statements.length };
      make();
      groups.set(name, {
        digest,
        paths: files.slice(from.files).map(({ path }) => path),
        lookUps: lookUps.slice(from.lookUps),
        statements: statements.slice(from.statements),
      });
    },
    put(path, values, body) {
      const row = catalog.operationByPath.get(path);
      // What has no price is not offered, so nothing stands there.
      if (row === undefined) return;
      const place = knownFilePath(row, values);
      (isForAll(row) ? pack : write)(place, JSON.stringify(body));
      const citation = citationOf(body);
      if (citation === undefined) return;
      cite(place, subjectOf(row, values), citation);
    },
  };
}

/** The forms of a file under each coding: those of the previous release where it has the same bytes, else written now. */
function packedFiles(
  { entry, bytes }: { readonly entry: FileEntry; readonly bytes: Uint8Array },
  writer: FileWriter,
  before: (path: string) => FileEntry | null,
): FileEntry[] {
  const isSame = before(entry.path)?.sha256 === entry.sha256;
  return CODINGS.map((coding) => {
    const path = packedPath(entry.path, coding);
    const known = isSame ? before(path) : null;
    return known ?? writer.write(path, packedBytes(bytes, coding));
  });
}

/** What is sold is never sent packed, and a free answer about one entity is short. */
function isForAll({ priceUsd, file }: Endpoint): boolean {
  return priceUsd === null && file?.includes('{') === false;
}

/** Every citation has a look-up entry, since its verify_url names its own hash. */
function citationEntry(file: string, entity: string, citation: Citation): CurrentEntry {
  const { record_hash, source, retrieved_at } = citation;
  const observed_at = source.published_at ?? retrieved_at;
  const subject = { signal_id: null, entity, observed_at };
  return { record_hash, kind: 'citation', state: 'current', file, ...subject };
}

/** What a body is about: a place, an entity, another value that it is asked by, or the operation itself. */
function subjectOf({ path, params }: Endpoint, values: Values): string {
  const asked = Object.keys(params).find((name) => params[name]?.required);
  return values.loc ?? values.entity ?? values[asked ?? ''] ?? path;
}

/** Where a gzip stream names the system that made it (RFC 1952), and the value for none. */
const SYSTEM_AT = 9;
const SYSTEM_UNKNOWN = 255;
/** On the OpenAPI document: 26 KB in 3 ms. The best quality makes 24 KB in 180 ms, and every hour would pay for it. */
const BROTLI_QUALITY = 5;

/** Bytes under a coding, the same on every system. A higher quality, up to 11, makes brotli smaller and slower. */
export function packedBytes(bytes: Uint8Array, coding: Coding, quality = BROTLI_QUALITY): Buffer {
  if (coding === 'br') {
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
    const params = { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
    return brotliCompressSync(bytes, { params });
  }
  const packed = gzipSync(bytes);
  packed[SYSTEM_AT] = SYSTEM_UNKNOWN;
  return packed;
}
