import type { Catalog } from '../catalog/catalog.ts';
import type { FileEntry } from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import { formOf } from '../products/products.ts';
import { deliveredFault } from '../products/shapes/delivered-form.ts';
import { withRequestTime } from '../products/shapes/request-time.ts';
import { readStored } from '../release/release-list.ts';
import { CompileError } from '../system/compile-error.ts';
import { placeOf } from '../verify/release-index.ts';
import { verifyBody } from '../verify/verify-body.ts';
import { verifyRelease } from '../verify/verify-release.ts';

/** How much of a release is looked at again before it is published. */
export type ReadBack = 'sample' | 'full';

/** Files whose bytes are read again, spread evenly over what was written. */
const FILES_SAMPLED = 500;
/** Bodies that are derived again with the code of the verifier; each costs it milliseconds. */
const BODIES_SAMPLED = 20;

interface Written {
  readonly data: string;
  /** Folder that is to become the release. */
  readonly root: string;
  readonly entries: readonly FileEntry[];
  readonly issuerDid: string;
  /** The instant that it describes, ISO-8601 UTC. */
  readonly asOf: string;
  /** What it takes in, 32 bytes a hash. */
  readonly taken: Buffer;
  /** What it was compiled from. */
  readonly catalog: Catalog;
}

/** Reads back what was written, with the verifier's code; throws a CompileError for anything that does not verify. */
export async function readBack(written: Written, how: ReadBack): Promise<void> {
  if (how === 'full') await readAllBack(written);
  else readSampleBack(written);
  deliverSamples(written);
}

async function readAllBack({ data, root, issuerDid, taken }: Written): Promise<void> {
  const { verdict, faults } = await verifyRelease(root, { trust: [issuerDid], staged: taken });
  if (verdict === 'verified') return;
  const [first] = faults;
  throw refusal(data, `${first?.file}: ${first?.where} ${first?.detail}`);
}

function readSampleBack({ data, entries, issuerDid }: Written): void {
  const files = spread(entries, FILES_SAMPLED);
  const bodies = new Set(
    spread(
      files.filter(({ path }) => /^(record|bundle)\/.*\.json$/.test(path)),
      BODIES_SAMPLED,
    ),
  );
  for (const entry of files) {
    const bytes = reread(data, entry);
    if (!bodies.has(entry)) continue;
    const judge = { trust: [issuerDid], isStored: true };
    const report = verifyBody(parseJson(decodeUtf8(bytes)), judge);
    const failed = report.checks.find((check) => check.status === 'fail');
    if (failed !== undefined)
      throw refusal(data, `${entry.path}: ${failed.where} ${failed.detail}`);
  }
}

/** Of each product, in each of its forms, the smallest body has to fit its schema with the members of request time. */
function deliverSamples({ data, entries, asOf, catalog }: Written): void {
  const smallest = new Map<string, FileEntry>();
  for (const entry of entries) {
    const folder = entry.path.slice(0, entry.path.lastIndexOf('/'));
    if (entry.size < (smallest.get(folder)?.size ?? Infinity)) smallest.set(folder, entry);
  }
  for (const entry of smallest.values()) {
    const schema = schemaAt(entry.path, catalog);
    if (schema === undefined) continue;
    const body = JSON.parse(reread(data, entry).toString('utf8'));
    const fault = deliveredFault(withRequestTime(body, Date.parse(asOf)), schema);
    if (fault === null) continue;
    const what = 'what would be delivered does not fit its schema, so it is not published';
    const message = `${what}: ${entry.path}: ${fault}; report this`;
    throw new CompileError([{ code: 'cannot_publish', file: data, message }]);
  }
}

/** The schema of the answer that a file is; undefined for any other file, and for descriptions, which are delivered as they are. */
function schemaAt(path: string, catalog: Catalog) {
  const endpoint = placeOf(path, catalog)?.endpoint;
  const isAnswer = path.endsWith('.json') && endpoint?.file?.startsWith('well-known/') === false;
  if (endpoint === undefined || !isAnswer) return undefined;
  return formOf(endpoint, path.startsWith('thin/') ? 'thin' : '')?.body;
}

function reread(data: string, entry: FileEntry): Buffer {
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw refusal(data, `${entry.path}: not the bytes that were written`, cause);
  }
}

function spread<T>(items: readonly T[], most: number): T[] {
  const step = Math.max(1, items.length / most);
  const count = Math.min(items.length, most);
  return Array.from({ length: count }, (_, index) => items[Math.floor(index * step)]).filter(
    (item) => item !== undefined,
  );
}

function refusal(file: string, what: string, cause?: unknown): CompileError {
  const message = `what was written does not verify, so it is not published: ${what}; check the disk`;
  const error = new CompileError([{ code: 'cannot_publish', file, message }]);
  error.cause = cause;
  return error;
}
