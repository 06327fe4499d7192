import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { compileSample } from '../../../scripts/sample/write-sample.ts';
import type { Child } from './child.ts';
import { startGate } from './gate.ts';
import { httpRows } from './http-rows.ts';
import { mcpRows } from './mcp-rows.ts';
import type { TokenRow } from './token-row.ts';

/**
 * Tokens that a model reads of this service, counted with o200k_base on the shipped sample. Usage: bench-tokens
 */
const NAME_CHARS = 90;

const folder = mkdtempSync(join(tmpdir(), 'bench-tokens-'));
let gate: Child | null = null;
try {
  await compileSample(folder);
  gate = await startGate({ folder, facilitator: null });
  const origin = `http://127.0.0.1:${gate.port}`;
  const rows = [...(await mcpRows(origin)), ...(await httpRows(origin, Date.now()))];
  for (const row of rows) console.log(line(row));
} finally {
  await gate?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function line({ name, text, goal: fixed, share }: TokenRow): string {
  const tokens = countTokens(text);
  const goal = share === undefined ? fixed : Math.floor(countTokens(share.of) * share.atMost);
  const bound = goal === null ? '' : `of ${goal}${tokens > goal ? '  MISSED' : ''}`;
  const shown = name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name;
  return `${shown.padEnd(NAME_CHARS)}${String(tokens).padStart(7)} ${bound}`;
}
