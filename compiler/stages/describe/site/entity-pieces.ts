import { hash } from 'node:crypto';
import { defined } from '../../../contract/defined.ts';
import { firstWhere } from '../../../contract/lists.ts';
import type { CatalogRow } from '../../../contract/release.ts';
import {
  SITE_ROWS_MAX,
  type SiteEntities,
  type SiteEntityRow,
  type SitePiece,
  type SitePieceRef,
} from '../../../contract/site.ts';
import type { CatalogLine, CatalogView } from './catalog-view.ts';
import { listPath, piecesFolder } from './site-paths.ts';

/** Entities of a piece on average. */
const PIECE_ROWS = 256;
/** Hex digits of a piece's name. */
const NAME_DIGITS = 16;

/** A file of the page by its path; null for a body that is as the release before has it. */
export type SiteFile = readonly [path: string, body: object | null];

/** What is known of the release before: which entities have another line now, and which files it has. */
interface PreviousPieces {
  /** In order. */
  readonly touched: readonly string[];
  readonly has: (path: string) => boolean;
}

/**
 * The list of a signal's entities, with its pieces where it is long. Where a piece ends follows from the entity that
 * begins the next one, and its name from the one that begins it: an entity more or less changes one piece or two. Only
 * pieces with a touched entity are read and made again.
 */
export function entityFiles(
  signal_id: string,
  catalog: CatalogView,
  before: PreviousPieces | null,
): SiteFile[] {
  const lines = [...catalog.lines(signal_id)];
  const rowsOf = (some: readonly CatalogLine[]): SiteEntityRow[] =>
    some.map((line) => shownRow(catalog.rowAt(line)));
  const list = (made: Omit<SiteEntities, 'signal_id'>): SiteFile => {
    return [listPath(signal_id), { signal_id, ...made }];
  };
  if (lines.length <= SITE_ROWS_MAX) return [list({ rows: rowsOf(lines), pieces: [] })];
  const cut = piecesOf(lines).map((piece, at, all): [SiteFile, SitePieceRef] => {
    const { entity: first } = defined(piece[0], 'the first line of a piece');
    const path = `${piecesFolder(signal_id)}${hash('sha256', first, 'hex').slice(0, NAME_DIGITS)}.json`;
    const isKept =
      before?.has(path) === true && !isTouched(before.touched, first, all[at + 1]?.[0]?.entity);
    const body: SitePiece | null = isKept ? null : { signal_id, rows: rowsOf(piece) };
    return [[path, body], { url: `/${path}`, first, entities: piece.length }];
  });
  return [list({ rows: null, pieces: cut.map(([, ref]) => ref) }), ...cut.map(([file]) => file)];
}

/** Whether an entity is touched from the first of a piece to the first of the next one, which may be a new cut itself. */
function isTouched(touched: readonly string[], first: string, next: string | undefined): boolean {
  const found =
    touched[
      firstWhere(touched.length, (at) => defined(touched[at], 'the touched entity') >= first)
    ];
  return found !== undefined && (next === undefined || found <= next);
}

function shownRow({ entity, entity_name, observed_at, last_looked_at }: CatalogRow): SiteEntityRow {
  return [entity, entity_name, observed_at, last_looked_at];
}

function piecesOf(lines: readonly CatalogLine[]): CatalogLine[][] {
  const pieces: CatalogLine[][] = [[]];
  for (const line of lines) {
    const isFull = (pieces.at(-1)?.length ?? 0) > 0 && beginsPiece(line.entity);
    if (isFull) pieces.push([]);
    pieces.at(-1)?.push(line);
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
