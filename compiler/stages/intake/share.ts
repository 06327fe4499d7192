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

/** FNV-1a over UTF-16 code units, 32 bits: spreads entities evenly and always the same way. */
export function entityHash(entity: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < entity.length; at++) {
    hash = Math.imul(hash ^ entity.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
