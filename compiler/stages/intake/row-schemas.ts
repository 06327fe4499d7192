import type { z } from 'zod';
import type { CollectionId } from '../../contract/collections.ts';
import { documentRowSchema } from './document-row.ts';
import { filingRowSchema } from './filing-row.ts';
import { mcpServerRowSchema } from './mcp-server-row.ts';
import { stableCoinRowSchema } from './stable-coin-row.ts';
import { stablecoinDeathRowSchema } from './stablecoin-death-row.ts';
import { trustServiceRowSchema } from './trust-service-row.ts';

/** What a row of each collection holds. */
export const ROW_SCHEMAS: Readonly<Record<CollectionId, z.ZodType<object>>> = {
  'trust.service': trustServiceRowSchema,
  'mcp.server': mcpServerRowSchema,
  'stable.coin': stableCoinRowSchema,
  'stablecoin.death': stablecoinDeathRowSchema,
  'filing.submission': filingRowSchema,
  document: documentRowSchema,
};
