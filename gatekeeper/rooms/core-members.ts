import { CITATION_SEAL_FIELDS, citationSchema } from '../../compiler/contract/citation.ts';
import { isRosterKind, rosterCoreFields } from '../../compiler/contract/collections.ts';
import { FILING_CORE_FIELDS } from '../../compiler/contract/filing.ts';
import { CORE_FIELDS } from '../../compiler/contract/record-hash.ts';
import { releaseSchema, type VerifyEntry } from '../../compiler/contract/release.ts';

const STATEMENT_FIELDS = Object.keys(citationSchema.shape).filter(
  (name) => !(CITATION_SEAL_FIELDS as readonly string[]).includes(name),
);

const HEAD_FIELDS = Object.keys(releaseSchema.shape);

/** Names of the members that the hash of an entry is taken of; those of a row that was captured by demand with those of demand. */
export function coreMembers({ kind, signal_id }: VerifyEntry): readonly string[] {
  if (kind === 'citation') return STATEMENT_FIELDS;
  if (kind === 'release') return HEAD_FIELDS;
  if (kind === 'reading') return CORE_FIELDS;
  // Filings belong to no signal and to no roster.
  if (signal_id === null) return FILING_CORE_FIELDS;
  // A leg of a document has the core of a reading.
  if (!isRosterKind(signal_id)) return CORE_FIELDS;
  const { fields, demand_v1_fields = [] } = rosterCoreFields(signal_id);
  return [...fields, ...demand_v1_fields];
}
