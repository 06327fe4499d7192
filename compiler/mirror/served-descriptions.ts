import { hash } from 'node:crypto';
import { answerBytes, LongAnswerError } from '../client/answer-bytes.ts';
import { TABLE } from '../contract/endpoints.ts';
import { knownFilePath, type Values } from '../contract/path.ts';
import type { FileEntry } from '../contract/release.ts';
import { LOG_URL, STATIC_FILES } from '../contract/static-files.ts';
import { asked } from '../monitor/log-client.ts';
import type { ReleaseFault } from '../verify/release-fault.ts';
import { type FetchBy, patiently, settled, type Ungiven, waitFor } from './fetch-files.ts';

/** What stands where clients read descriptions, beside the files that the head signs. */
export interface ServedDescriptions {
  /** Descriptions that were answered. */
  readonly compared: number;
  /** Those that are other than the listed ones, by their URLs. */
  readonly faults: readonly ReleaseFault[];
  /** Those that are not given: nobody is deceived by them. */
  readonly ungiven: readonly Ungiven[];
}

/** A URL, and the path in a release of what stands there. */
interface DescribedUrl {
  readonly url: string;
  readonly path: string;
}

/** What programs read of a service. Pages for people are left out, since a host may add to them; the log, since it grows. */
function describedUrls(): DescribedUrl[] {
  const files = STATIC_FILES.filter(({ url, summary, rel, site }) => {
    return (summary ?? rel) !== undefined && site !== true && url !== LOG_URL;
  });
  const rows = TABLE.filter(({ file }) => file?.startsWith('well-known/') === true);
  const forms = rows.flatMap((row) =>
    formsOf(row.params).map((values) => ({
      url: row.path + queryOf(values),
      path: knownFilePath(row, values),
    })),
  );
  return [...files, ...forms];
}

type Variants = Readonly<Record<string, { readonly variant?: Readonly<Record<string, string>> }>>;

/** The usual form, and each that one parameter chooses. */
function formsOf(params: Variants): Values[] {
  const chosen = Object.entries(params).flatMap(([name, { variant }]) =>
    Object.keys(variant ?? {}).map((value) => ({ [name]: value })),
  );
  return [{}, ...chosen];
}

function queryOf(values: Values): string {
  const query = new URLSearchParams(values).toString();
  return query === '' ? '' : `?${query}`;
}

/** Asks for each description once, and compares it with what the release lists. Throws an UnreachableError. */
export async function compareDescriptions(
  listed: readonly FileEntry[],
  by: FetchBy,
): Promise<ServedDescriptions> {
  const byPath = new Map(listed.map((entry) => [entry.path, entry]));
  const faults: ReleaseFault[] = [];
  const ungiven: Ungiven[] = [];
  let compared = 0;
  for (const { url, path } of describedUrls()) {
    const entry = byPath.get(path);
    if (entry === undefined) continue;
    const { sha256, refusal } = await patiently(by, () => askOnce(url, entry.size, by));
    if (refusal !== null) {
      ungiven.push({ path: url, detail: refusal });
      continue;
    }
    compared += 1;
    if (entry.sha256 === sha256) continue;
    faults.push({ file: url, where: '', detail: 'served in another form than the release lists' });
  }
  return { compared, faults, ungiven };
}

/** The hash of what stands there, null for something too long; or why nothing is given. */
type Shown =
  | { readonly sha256: string | null; readonly refusal: null }
  | { readonly sha256: null; readonly refusal: string };

function askOnce(url: string, longest: number, by: FetchBy): Promise<Shown> {
  const asking = { fetch: by.fetch, waitMs: waitFor(longest, by), signal: by.signal };
  return asked(by.address + url, asking, async (response): Promise<Shown> => {
    if (response.status !== 200) return { sha256: null, refusal: await settled(response) };
    return { sha256: await hashWithin(response, longest), refusal: null };
  });
}

async function hashWithin(response: Response, max: number): Promise<string | null> {
  try {
    return hash('sha256', await answerBytes(response, max), 'hex');
  } catch (error) {
    if (error instanceof LongAnswerError) return null;
    throw error;
  }
}
