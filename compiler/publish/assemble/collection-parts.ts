import { COLLECTIONS, type CollectionId } from '../../products/collections.ts';
import { mcpPart, trustPart } from './capture-rosters.ts';
import { deathsPart } from './deaths-roster.ts';
import { documentPart } from './documents.ts';
import { readFilings } from './filings.ts';
import type { ReadPart } from './settle-rows.ts';
import { stablePart } from './stable-roster.ts';

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
