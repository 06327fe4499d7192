import { entityHash } from './entity-hash.ts';

/** Which entities of a signal one job takes; what names no entity, such as a broken line, belongs to the first share. */
export interface Share {
  readonly index: number;
  /** How many shares there are. */
  readonly of: number;
}

export const WHOLE: Share = { index: 0, of: 1 };

/** Shares look at other bits of the hash than partitions do, or a share would fill only some of these. */
const PARTITION_BITS = 16;

/** Whether a share takes the lines of an entity; null for a line that names none. */
export function takes({ index, of }: Share, entity: string | null): boolean {
  if (of === 1) return true;
  return (entity === null ? 0 : (entityHash(entity) >>> PARTITION_BITS) % of) === index;
}
