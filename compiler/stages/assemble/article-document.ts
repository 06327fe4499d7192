import { NATURE } from '../../contract/words.ts';
import { hoursBetween } from '../derive/age.ts';
import type { ArticleDocument } from '../intake/document-row.ts';
import { disclosureOf } from './rosters/put-roster.ts';
import { rowProvenance } from './rosters/roster-provenance.ts';
import type { HashedRow } from './rosters/settle-rows.ts';

const HASH_NOTE =
  'record_hash is recomputed from operation, params, title, text, rows and their source; the citation signs the whole body';

/** The members of an article as they are served and hashed. */
export function articleFacts(row: ArticleDocument) {
  const { operation, params, title, text, rows, observed_at, source_ref, source_tier } = row;
  return { operation, params, title, text, rows, observed_at, source_ref, source_tier };
}

/** The body of a document of text and rows. */
export function articleBody(stored: HashedRow<ArticleDocument>) {
  const { row, record_hash } = stored;
  const { rows, observed_at, source_ref, source_tier, ...identity } = articleFacts(row);
  const about = { signal: 'document', dimension: row.operation, cadence: row.cadence };
  return {
    nature: NATURE,
    ...identity,
    count: rows.length,
    rows,
    observed_at,
    data_age_hours: hoursBetween(observed_at, row.collected_at),
    source_ref,
    source_tier,
    record_hash,
    hash_core_version: 3,
    record_hash_verifiable: { mode: 'offline', note: HASH_NOTE },
    provenance: rowProvenance(about, stored),
    ...disclosureOf(row),
  };
}
