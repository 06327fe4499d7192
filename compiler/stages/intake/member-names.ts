import { z } from 'zod';
import type { CollectionId } from '../../contract/collections.ts';
import { documentRow } from './document-row.ts';
import { storedFilingRowSchema } from './filing-row.ts';
import { mcpServerRowSchema } from './mcp-server-row.ts';
import { stableCoinRowSchema } from './stable-coin-row.ts';
import { stablecoinDeathRowSchema } from './stablecoin-death-row.ts';
import { trustServiceRowSchema } from './trust-service-row.ts';

/** The names of all members that a row of any form may have. */
export function memberNames(row: z.ZodType): string[] {
  return [...new Set(shapesOf(row).flatMap((shape) => Object.keys(shape)))];
}

/** Any members of a row, each judged by itself; one that the forms of a row judge otherwise stays open. */
export function someMembers(row: z.ZodType): z.ZodType {
  const shapes = shapesOf(row);
  const members = memberNames(row).map((name): [string, z.ZodType] => {
    const [rule = z.unknown(), ...others] = new Set(shapes.flatMap((shape) => shape[name] ?? []));
    return [name, (others.length === 0 ? rule : z.unknown()).optional()];
  });
  return z.strictObject(Object.fromEntries(members));
}

function shapesOf(row: z.ZodType): Readonly<Record<string, z.ZodType>>[] {
  const forms: readonly unknown[] = row instanceof z.ZodDiscriminatedUnion ? row.options : [row];
  return forms.flatMap((form) => (form instanceof z.ZodObject ? [form.shape] : []));
}

/** What a row of each collection holds. */
export const ROW_SCHEMAS: Readonly<Record<CollectionId, z.ZodType<object>>> = {
  'trust.service': trustServiceRowSchema,
  'mcp.server': mcpServerRowSchema,
  'stable.coin': stableCoinRowSchema,
  'stablecoin.death': stablecoinDeathRowSchema,
  'filing.submission': storedFilingRowSchema,
  document: documentRow,
};
