import type { Answer } from '../compiler/contract/endpoints.ts';

/** Whether this version can answer a word at all; the switch of answers.ts refuses the others. */
const BUILT: Readonly<Record<Answer, boolean>> = {
  file: true,
  coverage: true,
  catalog: true,
  preview: true,
  search: true,
  channels: true,
  verify: true,
  manifest: true,
  gone: true,
  series: true,
  resolve: true,
  mint: true,
  watch: true,
  anchor: true,
  rpc: true,
  proof: true,
  check: false,
};

export function isBuilt(answer: Answer): boolean {
  return BUILT[answer];
}
