import type { Catalog } from '../../contract/catalog/catalog.ts';
import { defined } from '../../contract/defined.ts';
import type { Endpoint } from '../../contract/endpoints.ts';
import type { Values } from '../../contract/path.ts';
import { knownName } from '../../contract/reading-text.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../../contract/release.ts';
import { isObject } from '../../contract/strict-json.ts';
import { isDescriptionFile, type ReleaseBodies, type Shelf } from './stored-bodies.ts';

/** Real values for the operations whose answer is computed when it is asked for. */
interface ExampleValues {
  /** A latest reading of the release; null for a release without readings. */
  readonly reading: CatalogRow | null;
}

const NO_HASH = `sha256:${'0'.repeat(64)}`;

export function releaseExamples({ has, read }: Shelf): ExampleValues {
  if (!has(CATALOG_PATH)) return { reading: null };
  const text = new TextDecoder().decode(read(CATALOG_PATH));
  const end = text.indexOf('\n');
  return { reading: end < 0 ? null : parseCatalogRow(text.slice(0, end)) };
}

interface ExampleSource {
  readonly stored: ReleaseBodies;
  readonly examples: ExampleValues;
  readonly catalog: Catalog;
}

/** Parameter values of a request that this release answers; null where nothing is stored for the operation. */
export function exampleValues(
  row: Endpoint,
  { stored, examples, catalog }: ExampleSource,
): Values | null {
  if (isDescriptionFile(row)) return {};
  if (row.file !== undefined) {
    return stored.of(row)?.values ?? null;
  }
  switch (row.answer) {
    case 'verify':
    case 'proof': {
      const hash = examples.reading?.record_hash ?? NO_HASH;
      return Object.fromEntries(Object.keys(row.params).map((name) => [name, hash]));
    }
    case 'watch':
      return row.params.items === undefined ? {} : watchValues(examples, catalog);
    case 'resolve':
      return resolveValues(row, stored);
    case 'search':
      return { q: searchQuestion(examples, catalog) };
    default:
      return {};
  }
}

function watchValues({ reading }: ExampleValues, { entryById }: Catalog): Values | null {
  if (reading === null) return null;
  const { line } = defined(entryById.get(reading.signal_id), 'the line of the signal');
  return { items: `${line.industry}:${reading.entity}` };
}

/** A question that this release answers. */
function searchQuestion({ reading }: ExampleValues, { entryById }: Catalog): string {
  if (reading === null) return 'sample';
  const entry = defined(entryById.get(reading.signal_id), 'the row of the signal');
  return `${entry.signal.measures} ${knownName(entry, reading.entity) ?? reading.entity}`;
}

const RESOLVE_PREVIEW = 'free/preview/resolve.json';

/** The preview of the stored filings names one that answers. */
function resolveValues(row: Endpoint, stored: ReleaseBodies): Values | null {
  const preview = stored.find(RESOLVE_PREVIEW);
  const request = isObject(preview) ? preview.example_request : undefined;
  if (typeof request !== 'string') return null;
  const query = new URL(request, 'http://release').searchParams;
  const named = Object.keys(row.params).flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(named);
}
