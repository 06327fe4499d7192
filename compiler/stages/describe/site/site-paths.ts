import { encodeSegment } from '../../../contract/path.ts';
import { SITE_DATA } from '../../../contract/site.ts';

/** Where the entities of a signal are listed. */
export function listPath(signalId: string): string {
  return `${SITE_DATA}/entities/${encodeSegment(signalId)}.json`;
}

/** Folder of the pieces of a long list. */
export function piecesFolder(signalId: string): string {
  return `${SITE_DATA}/entities/${encodeSegment(signalId)}/`;
}

export function mapPath(signalId: string): string {
  return `${SITE_DATA}/map/${encodeSegment(signalId)}.json`;
}
