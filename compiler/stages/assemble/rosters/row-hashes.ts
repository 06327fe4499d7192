import type { Leaf } from '../../../contract/release.ts';
import type { Press } from '../../publish/press.ts';

/** A hash of a row, and the file that it can be recomputed from; null where another has taken its place. */
export interface RowHash extends Pick<Leaf, 'record_hash' | 'batch' | 'observed_at'> {
  readonly signal_id: string | null;
  readonly entity: string;
  readonly file: string | null;
}

/** Makes each hash findable once, and puts it into the log: of what is served now also where it stands. */
export function putRowHashes(press: Press, hashes: readonly RowHash[]): void {
  const seen = new Set<string>();
  for (const { batch, file, ...rest } of hashes) {
    if (seen.has(rest.record_hash)) continue;
    seen.add(rest.record_hash);
    const facts = { ...rest, kind: 'row' } as const;
    if (file !== null) press.lookUp({ ...facts, state: 'current', file });
    press.leaf({ ...facts, batch });
  }
}
