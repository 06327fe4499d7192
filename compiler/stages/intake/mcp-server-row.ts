import { z } from 'zod';
import { captureFields, checkTimes, refusals, rowId, text } from './row-origin.ts';

const rowSchema = z.strictObject({
  ...captureFields,
  server_id: rowId,
  name: text.nullable().optional(),
  /** A word of the source. */
  status: text,
});
export type McpServerRow = z.infer<typeof rowSchema>;

/** One MCP server on one capture day. */
export const mcpServerRowSchema = rowSchema.superRefine((row, context) => {
  checkTimes(row, refusals(context));
});
