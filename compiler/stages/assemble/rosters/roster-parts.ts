import { documentPart } from '../documents.ts';
import type { ReadPart } from '../part.ts';
import { deathsPart } from './deaths-roster.ts';
import { mcpPart } from './mcp-roster.ts';
import { stablePart } from './stable-roster.ts';
import { trustPart } from './trust-roster.ts';

/** Rosters, registries and documents, in the order in which they are written. */
export const ROSTER_PARTS: readonly ReadPart[] = [
  deathsPart,
  trustPart,
  mcpPart,
  stablePart,
  documentPart,
];
