import { COLLECTIONS, type CollectionId } from '../../contract/collections.ts';
import { documentPart } from './documents.ts';
import { readFilings } from './filings.ts';
import { mcpPart, trustPart } from './rosters/capture-rosters.ts';
import { deathsPart } from './rosters/deaths-roster.ts';
import type { ReadPart } from './rosters/settle-rows.ts';
import { stablePart } from './rosters/stable-roster.ts';

const PARTS: Readonly<Record<CollectionId, ReadPart>> = {
  'filing.submission': readFilings,
  'stablecoin.death': deathsPart,
  'trust.service': trustPart,
  'mcp.server': mcpPart,
  'stable.coin': stablePart,
  document: documentPart,
};

/** What comes from collections, in the order in which it is written. */
export const COLLECTION_PARTS: readonly ReadPart[] = COLLECTIONS.map(({ id }) => PARTS[id]);
