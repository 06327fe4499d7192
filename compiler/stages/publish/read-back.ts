import type { Catalog } from '../../contract/catalog/catalog.ts';
import type { FileEntry } from '../../contract/release.ts';
import { decodeUtf8, parseJson } from '../../contract/strict-json.ts';
import { verifyBody } from '../../verify/verify-body.ts';
import { verifyRelease } from '../../verify/verify-release.ts';
import { CompileError } from '../intake/compile-error.ts';
import { readStored } from './release-list.ts';

/** How much of a release is looked at again before it is published. */
export type ReadBack = 'sample' | 'full';

/** Files of which the bytes are read again, spread evenly over what was written. */
const FILES_SAMPLED = 500;
/** Bodies that are derived again with the code of the verifier; each costs it milliseconds. */
const BODIES_SAMPLED = 20;

interface Written {
  /** The data folder. */
  readonly data: string;
  /** Folder that is to become the release. */
  readonly root: string;
  readonly entries: readonly FileEntry[];
  readonly issuerDid: string;
  /** What it was compiled from. */
  readonly catalog: Catalog;
}

/** Reads back what was written, with the verifier's code; throws a CompileError for anything that does not verify. */
export async function readBack(written: Written, how: ReadBack): Promise<void> {
  if (how === 'full') await readAllBack(written);
  else readSampleBack(written);
}

async function readAllBack({ data, root, issuerDid }: Written): Promise<void> {
  const { verdict, faults } = await verifyRelease(root, { trust: [issuerDid] });
  if (verdict === 'verified') return;
  const [first] = faults;
  throw refusal(data, `${first?.file}: ${first?.where} ${first?.detail}`);
}

function readSampleBack({ data, entries, issuerDid, catalog }: Written): void {
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
    const judge = { trust: [issuerDid], judgedBy: { catalog, isOfBody: true } };
    const report = verifyBody(parseJson(decodeUtf8(bytes)), judge);
    const failed = report.checks.find((check) => check.status === 'fail');
    if (failed !== undefined)
      throw refusal(data, `${entry.path}: ${failed.where} ${failed.detail}`);
  }
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
