import { hash } from 'node:crypto';
import type { CatalogRow } from '../../../contract/release.ts';
import {
  SITE_ROWS_MAX,
  type SiteEntities,
  type SiteEntityRow,
  type SitePiece,
  type SitePieceRef,
} from '../../../contract/site.ts';
import { listPath, piecesFolder } from './site-paths.ts';

/** Entities of a piece on average. */
const PIECE_ROWS = 256;
/** Hex digits of a piece's name. */
const NAME_DIGITS = 16;

/** A file of the page by its path. */
export type SiteFile = readonly [path: string, body: object];

/**
 * The list of a signal's entities, with its pieces where it is long. Where a piece ends follows from the entity that
 * begins the next one, and its name from the one that begins it: an entity more or less changes one piece or two.
 */
export function entityFiles(signal_id: string, rows: Iterable<CatalogRow>): SiteFile[] {
  const shown = [...rows].map(shownRow);
  const list = (made: Omit<SiteEntities, 'signal_id'>): SiteFile => {
    return [listPath(signal_id), { signal_id, ...made }];
  };
  if (shown.length <= SITE_ROWS_MAX) return [list({ rows: shown, pieces: [] })];
  const cut = piecesOf(shown).map((piece): [SiteFile, SitePieceRef] => {
    const [first] = piece[0] ?? [''];
    const path = `${piecesFolder(signal_id)}${hash('sha256', first, 'hex').slice(0, NAME_DIGITS)}.json`;
    const body: SitePiece = { signal_id, rows: piece };
    return [[path, body], { url: `/${path}`, first, entities: piece.length }];
  });
  return [list({ rows: null, pieces: cut.map(([, ref]) => ref) }), ...cut.map(([file]) => file)];
}

function shownRow({ entity, entity_name, observed_at, last_looked_at }: CatalogRow): SiteEntityRow {
  return [entity, entity_name, observed_at, last_looked_at];
}

function piecesOf(rows: readonly SiteEntityRow[]): SiteEntityRow[][] {
  const pieces: SiteEntityRow[][] = [[]];
  for (const row of rows) {
    const isFull = (pieces.at(-1)?.length ?? 0) > 0 && beginsPiece(row[0]);
    if (isFull) pieces.push([]);
    pieces.at(-1)?.push(row);
  }
  return pieces;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** True for one name in PIECE_ROWS, by 32-bit FNV-1a. */
function beginsPiece(entity: string): boolean {
  let digest = FNV_OFFSET;
  for (let at = 0; at < entity.length; at += 1) {
    digest = Math.imul(digest ^ entity.charCodeAt(at), FNV_PRIME);
  }
  // Low bits alone depend on the low bits of the text.
  return ((digest >>> 16) ^ (digest & 0xffff)) % PIECE_ROWS === 0;
}
