import { sha256 } from '@noble/hashes/sha2.js';
import { messageOf } from '../contract/errors.ts';
import type { HashedFiling } from '../contract/filing.ts';
import {
  FILINGS_FOLDER,
  type FilerLine,
  filerPath,
  filingListPath,
  filingPath,
  formatFilingLine,
  parseFilerLine,
  parseFilingLine,
} from '../contract/filing-index.ts';
import { filingLists, provenList, storedForms } from '../contract/filing-lists.ts';
import { encodeSegment } from '../contract/path.ts';
import { filerCoverageSchema } from '../contract/resolve-bodies.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isSame, type Related } from './relation.ts';
import type { StoredBodies } from './stored-bodies.ts';

const FILER = /^filing\/[^/]+\/filer\.json$/;

/** Compares the list of a filer's filings with the filings, each way. */
export function checkFiler(filer: Related): void {
  const { path, body, bodies, fault } = filer;
  if (!FILER.test(path) || typeof body.entity !== 'string') return;
  const list = filingListPath(body.entity);
  const text = bodies.text(list);
  if (bodies.list.find(list) === null) fault('filings_count', `"${list}" is missing`);
  if (text === null) return;
  const lines = text.split('\n').slice(0, -1);
  for (const [at, line] of lines.entries()) {
    const wrong = lineFault(line, body.entity, bodies);
    if (wrong !== null) fault('filings_count', `"${list}" line ${at + 1}: ${wrong}`);
  }
  if (!isSame(body.lists, headsOf(lines))) {
    fault('lists', `differ from the lists of "${list}"`);
  }
  const stored = bodies.list.count(`${FILINGS_FOLDER}${encodeSegment(body.entity)}/`) - 1;
  if (stored !== lines.length || body.filings_count !== stored) {
    fault('filings_count', `${stored} filings are stored and ${lines.length} listed`);
  }
  filer.count('filings', lines.length);
}

/** What the statement of a filer must say of its lists; null for a line that is none, which is named by itself. */
function headsOf(lines: readonly string[]): JsonValue {
  try {
    const lists = filingLists(lines.map(parseFilingLine));
    return lists.map((each) => ({ ...provenList(each, sha256).head }));
  } catch {
    return null;
  }
}

function lineFault(line: string, cik: string, bodies: StoredBodies): string | null {
  try {
    const facts = parseFilingLine(line);
    const filing = bodies.get(filingPath(cik, facts));
    if (filing === 'absent') return 'names a filing that is not stored';
    if (filing === 'damaged') return null;
    const own = formatFilingLine(filing as unknown as HashedFiling);
    return own === `${line}\n` ? null : 'differs from the filing';
  } catch (error) {
    return messageOf(error);
  }
}

export function filerLineFault(line: string, bodies: StoredBodies): string | null {
  const filer: FilerLine = parseFilerLine(line);
  const body = bodies.get(filerPath(filer.cik));
  if (body === 'absent') return 'names a filer that is not stored';
  if (body === 'damaged') return null;
  const { entity, entity_name, tickers, observed_at, covered_from, gaps } = body;
  const heads = filerCoverageSchema.shape.lists.safeParse(body.lists);
  const forms = heads.success ? storedForms(heads.data) : [];
  const shown = [entity, entity_name, tickers, observed_at, covered_from, gaps, forms];
  const stored = [filer.cik, filer.name, filer.tickers, filer.collected_at, filer.covered_from];
  const isFiler = isSame(shown as never, [...stored, filer.gaps, filer.forms] as never);
  return isFiler ? null : 'differs from what is stored of the filer';
}
