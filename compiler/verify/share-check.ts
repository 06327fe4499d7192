import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Catalog } from '../catalog/catalog.ts';
import { WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { type Citation, citationSchema, verifyUrl } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { type FileEntry, type Release, unpackedPath } from '../format/release.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import { type Disk, readAll } from '../system/disk.ts';
import { type BodyCheck, type BodyReport, objectNodes } from './body-check.ts';
import {
  CARD_PATH,
  carriedFault,
  checkDescription,
  isDescription,
  type ReadCatalog,
} from './description-checks.ts';
import { type FileList, placeOfFile } from './file-list.ts';
import { checkFiler } from './filing-relations.ts';
import type { KnownHashes } from './known-hashes.ts';
import type { Related } from './relation.ts';
import { type BodyFault, count, Faults, type Tally } from './release-fault.ts';
import { type FilePlace, isHashedSubject, placeOf, RECORD } from './release-index.ts';
import { isSeries } from './series-checks.ts';
import { statementLine } from './statements-check.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';
import {
  checkJoined,
  checkRecord,
  checkRoster,
  checkRows,
  checkView,
  PREVIEW,
  recordOf,
  SERIES,
  viewsOf,
} from './stored-relations.ts';
import { isSegment, strayFault, wholeSeries } from './stored-series.ts';
import type { SignatureCheck } from './strict-signature.ts';
import { verifyBody } from './verify-body.ts';

const BUNDLE = /^bundle\//;

/** What is needed to judge any file of a release. */
export interface ShareContext extends ReadCatalog {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly list: FileList;
  /** What was taken in; null where the log does not say so. */
  readonly known: KnownHashes | null;
  readonly isSignature: SignatureCheck;
}

/** Judges the files of one piece of the list; a record takes its views with it. */
export function checkChunk(context: ShareContext, chunk: number) {
  const share = new RecordShare(context);
  for (const entry of context.list.chunk(chunk)) {
    const record = recordOf(entry.path);
    if (record === entry.path) share.record(entry);
    else if (record === null || context.list.find(record) === null) share.single(entry, record);
  }
  return share.result();
}

export type ShareResult = ReturnType<typeof checkChunk>;

/** Holds one record with its views at a time. */
class RecordShare {
  readonly #context: ShareContext;
  readonly #bodies: StoredBodies;
  readonly #isPublic: boolean;
  readonly #faults = new Faults();
  readonly #tally: Tally = {};
  readonly #statements: string[] = [];
  /** Cited are bodies with a citation of their own, subjects roster rows with a file and a hash of their own. */
  readonly #sums = { bytes: 0, bodies: 0, records: 0, bundles: 0, cited: 0, subjects: 0 };
  /** Files that are not what the list says. */
  #damaged = 0;

  constructor(context: ShareContext) {
    this.#context = context;
    this.#bodies = new StoredBodies(context.disk, context.root, context.list);
    this.#isPublic = context.list.isPublic;
  }

  result() {
    const { kept: faults, count: faultCount } = this.#faults;
    return {
      ...this.#sums,
      tally: this.#tally,
      statements: this.#statements,
      damaged: this.#damaged,
      faults,
      faultCount,
    };
  }

  record(entry: FileEntry): void {
    const record = this.#file(entry);
    const views = viewsOf(entry.path, this.#context.list).map((of) => {
      return { of, view: this.#file(of.entry) };
    });
    if (record === null) return;
    checkRecord(record);
    for (const { view, of } of views) if (view !== null) checkView(view, record.body, of);
    const at = (path: string) => views.find(({ of }) => of.endpoint.path === path)?.view ?? null;
    const series = at(SERIES);
    if (series !== null) checkRows({ record, preview: at(PREVIEW) }, series.body);
  }

  /** Any other file; `record` is the one that it should be a view of. Of the public part, what it repeats is not at hand. */
  single(entry: FileEntry, record: string | null): void {
    const related = this.#file(entry);
    if (isSegment(entry.path)) this.#note(entry.path, strayFault(entry.path, this.#bodies));
    this.#note(entry.path, packedFault(entry.path, this.#bodies));
    if (this.#isPublic) return;
    if (record !== null) this.#faults.add(entry.path, '', `is of "${record}", which is not listed`);
    if (related === null) return;
    checkJoined(related);
    checkRoster(related);
    checkFiler(related);
  }

  #note(path: string, fault: string | null): void {
    if (fault !== null) this.#faults.add(path, '', fault);
  }

  /** The body of a file that is the listed one; null for any other file. */
  #file(entry: FileEntry): Related | null {
    const { path } = entry;
    count(this.#tally, 'files');
    try {
      const bytes = this.#bytes(entry);
      if (bytes === null || !path.endsWith('.json')) return null;
      if (path === WHOLE_CATALOG_PATH) {
        this.#note(path, carriedFault(entry.sha256, this.#context));
        count(this.#tally, 'descriptions');
        return null;
      }
      const body = parseJson(decodeUtf8(bytes));
      if (isDescription(path)) {
        this.#describe(path, body);
        return null;
      }
      return isObject(body) && isSeries(body) ? this.#series(path, body) : this.#body(path, body);
    } catch (error) {
      this.#damage(path, '', messageOf(error));
      return null;
    }
  }

  /** The bytes of a file of the listed size and hash; of a file that is no body only null. */
  #bytes(entry: FileEntry): Uint8Array | null {
    const { disk, root } = this.#context;
    const { path, size } = entry;
    const place = placeOfFile(root, entry);
    const found = disk.entry(place);
    if (found?.kind !== 'file') {
      const state =
        found === null ? 'listed in files.txt, but missing' : `not a plain file: a ${found.kind}`;
      return this.#damage(path, '', state);
    }
    if (found.size !== size) {
      return this.#damage(path, 'size', `${found.size} bytes, not the ${size} of files.txt`);
    }
    this.#sums.bytes += size;
    const bytes = path.endsWith('.json') ? readAll(disk.chunks(place), BODY_BYTES_MAX) : null;
    const digest = bytes === null ? hashOf(disk.chunks(place)) : sha256(bytes);
    if (bytesToHex(digest) === entry.sha256) return bytes;
    return this.#damage(path, 'sha256', 'not the one of files.txt');
  }

  #damage(path: string, where: string, detail: string): null {
    this.#damaged += 1;
    this.#faults.add(path, where, detail);
    return null;
  }

  #describe(path: string, body: JsonValue): void {
    const { head, isSignature, catalog, ownTables } = this.#context;
    const card = this.#bodies.get(CARD_PATH);
    const faults = checkDescription(path, body, { head, isSignature, catalog, ownTables, card });
    for (const [where, detail] of faults) this.#faults.add(path, where, detail);
    count(this.#tally, 'descriptions');
  }

  /** A series with the rows of its segments; null where one of those is damaged. */
  #series(path: string, stored: JsonObject): Related | null {
    const whole = wholeSeries(stored, this.#bodies);
    if (whole === null) return null;
    for (const [where, detail] of whole.faults) this.#faults.add(path, where, detail);
    return this.#body(path, whole.body);
  }

  #body(path: string, body: JsonValue): Related | null {
    const { report, faults } = judgeBody(path, body, this.#context);
    for (const [where, detail] of [...faults, ...this.#unlisted(body)])
      this.#faults.add(path, where, detail);
    this.#count(path, body);
    for (const check of report.checks) countCheck(this.#tally, check);
    return isObject(body) ? this.#related(path, body) : null;
  }

  #count(path: string, body: JsonValue): void {
    const sums = this.#sums;
    sums.bodies += 1;
    if (RECORD.test(path)) sums.records += 1;
    if (BUNDLE.test(path)) sums.bundles += 1;
    if (!isObject(body)) return;
    if (body._citation !== undefined) sums.cited += 1;
    const statement = statementLine(body);
    if (statement !== null) this.#statements.push(statement);
    if (isHashedSubject(path, body)) sums.subjects += 1;
    if (body.tier === 'history-series' && Array.isArray(body.rows)) {
      count(this.#tally, 'series_rows', body.rows.length);
    }
  }

  #unlisted(body: JsonValue): BodyFault[] {
    const { known } = this.#context;
    const faults: BodyFault[] = [];
    for (const { path, value } of known === null ? [] : objectNodes(body)) {
      const { record_hash } = value;
      if (typeof record_hash !== 'string') continue;
      count(this.#tally, 'listed_hashes');
      const where = path === '' ? 'record_hash' : `${path}.record_hash`;
      if (known?.has(record_hash) === false) faults.push([where, 'was never taken in']);
    }
    return faults;
  }

  #related(path: string, body: JsonObject): Related {
    return {
      path,
      body,
      bodies: this.#bodies,
      catalog: this.#context.catalog,
      ownTables: this.#context.ownTables,
      fault: (where, detail) => this.#faults.add(path, where, detail),
      count: (name, more) => count(this.#tally, name, more),
    };
  }
}

function countCheck(tally: Tally, { check, where, status }: BodyCheck): void {
  if (status !== 'pass') return;
  if (check === 'record_hash') count(tally, 'record_hashes');
  if (check === 'content') count(tally, 'contents');
  if (check === 'citation' && where.endsWith('.signature')) count(tally, 'citations');
}

function hashOf(chunks: Iterable<Uint8Array>): Uint8Array {
  const hash = sha256.create();
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}

/** What is wrong with a file that holds another one under a content coding; null for any other file, and for a sound one. */
function packedFault(path: string, bodies: StoredBodies): string | null {
  const of = unpackedPath(path);
  if (of === null) return null;
  const original = bodies.list.find(of.path);
  if (original === null) return `is a form of "${of.path}", which is not listed`;
  const bytes = bodies.bytes(path);
  // A damaged file is named once, by its hash.
  if (bytes === null) return null;
  const unpack = of.coding === 'br' ? brotliDecompressSync : gunzipSync;
  try {
    const unpacked = unpack(bytes, { maxOutputLength: original.size });
    if (bytesToHex(sha256(unpacked)) === original.sha256) return null;
  } catch {
    // Longer than the original, or no stream of that coding.
  }
  return `does not unpack to "${of.path}"`;
}

const MEMBER_OF: Readonly<Record<string, string>> = {
  signal_id: 'signal_id',
  entity: 'entity',
  loc: 'location',
  service: 'service_id',
  name: 'server_id',
};

function judgeBody(
  path: string,
  body: JsonValue,
  { catalog, head, isSignature }: { catalog: Catalog; head: Release; isSignature: SignatureCheck },
): { report: BodyReport; faults: readonly BodyFault[] } {
  const report = verifyBody(body, { trust: [head.issuer_did], isSignature, isStored: true });
  const failed = report.checks
    .filter((each) => each.status === 'fail')
    .map((each): BodyFault => [each.where, `${each.check}: ${each.detail}`]);
  const place = placeOf(path, catalog);
  if (place === null || !isObject(body)) return { report, faults: failed };
  const sold = place.endpoint.priceUsd !== null || place.endpoint.token;
  if (sold && report.verdict === 'unsigned') failed.push(['_citation', 'missing in a sold body']);
  const subject = isObject(body.sample) ? body.sample : body;
  const params = isObject(subject.params) ? subject.params : {};
  const faults = [
    ...failed,
    ...Object.entries(place.values).flatMap(([name, value]): BodyFault[] => {
      const found = subject[MEMBER_OF[name] ?? name] ?? params[name];
      if (found === undefined || found === value) return [];
      return [[MEMBER_OF[name] ?? name, `not "${value}", which its path stands for`]];
    }),
    ...headFaults(place, body, head),
  ];
  return { report, faults };
}

/** Citations of a release are made by its issuer, for its address and for the place they are at. */
function headFaults(place: FilePlace, body: JsonObject, head: Release): BodyFault[] {
  const cited = isObject(body.sample) ? body.sample : body;
  const parsed = citationSchema.safeParse(cited._citation);
  if (!parsed.success) return [];
  const { source, key_id, verify_url, record_hash } = parsed.data;
  const faults: BodyFault[] = [];
  if (source.issuer !== head.issuer_name) faults.push(['source.issuer', 'not the issuer name']);
  if (key_id !== head.key_id) faults.push(['key_id', 'not the key of the release']);
  if (verify_url !== verifyUrl(head.base_url, record_hash)) {
    faults.push(['verify_url', 'not at the address of the release']);
  }
  if (cited === body && !isTarget(place, parsed.data, head)) {
    faults.push(['source.url', `not the operation "${place.endpoint.path}" of this body`]);
  }
  return faults.map(([where, detail]) => [`_citation.${where}`, detail]);
}

function isTarget({ endpoint, values }: FilePlace, { source }: Citation, head: Release): boolean {
  const start = head.base_url + endpoint.path;
  const [address, query = ''] = (source.url ?? '').split('?', 2);
  const asked = new URLSearchParams(query);
  return address === start && Object.entries(values).every(([k, v]) => asked.get(k) === v);
}
