import { COLLECTIONS, type CollectionId } from '../../contract/collections.ts';
import { documentPart } from './documents.ts';
import { readFilings } from './filings.ts';
import type { ReadPart } from './part.ts';
import { deathsPart } from './rosters/deaths-roster.ts';
import { mcpPart } from './rosters/mcp-roster.ts';
import { stablePart } from './rosters/stable-roster.ts';
import { trustPart } from './rosters/trust-roster.ts';

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
