/** FNV-1a over UTF-16 code units, 32 bits: spreads entities evenly and always the same way. */
export function entityHash(entity: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < entity.length; at++) {
    hash = Math.imul(hash ^ entity.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
