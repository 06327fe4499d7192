import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import {
  SEARCH_DOCUMENTS_PATH,
  SEARCH_TERMS_PATH,
  type SearchDocument,
} from '../../compiler/contract/search-index.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { DocumentTable } from './document-table.ts';
import { TermTable } from './term-table.ts';

/** The compiled index of a release. */
export interface SearchIndex {
  readonly terms: TermTable;
  readonly documents: DocumentTable;
  /** Numbers of topics by the id of a signal or the path of an operation. */
  readonly topicOf: ReadonlyMap<string, number>;
  /** By number, the line of a signal or bundle; null for any other operation. */
  readonly lineOfTopic: readonly (string | null)[];
}

/** The index of a release, read at its first question; null where the release has none. */
export const searchIndex = perRelease(
  async (release: ReleaseIndex): Promise<SearchIndex | null> => {
    if (!release.has(SEARCH_TERMS_PATH)) return null;
    const terms = new TermTable((await release.body(SEARCH_TERMS_PATH, FOR_EVERYBODY)).bytes);
    const { bytes } = await release.body(SEARCH_DOCUMENTS_PATH, FOR_EVERYBODY);
    const documents = new DocumentTable(bytes);
    const topics = Array.from({ length: terms.head.topics }, (_, at) => documents.row(at));
    return {
      terms,
      documents,
      topicOf: new Map(topics.map(([, name], at) => [name, at])),
      lineOfTopic: topics.map(lineIn(release.catalog)),
    };
  },
);

function lineIn({ entryById, lines }: Catalog): (topic: SearchDocument) => string | null {
  const bundles = new Map<string, string>(
    lines.flatMap(({ id, bundle }) => (bundle === undefined ? [] : [[bundle.path, id] as const])),
  );
  return ([kind, name]) =>
    (kind === 'signal' ? entryById.get(name)?.line.id : bundles.get(name)) ?? null;
}
