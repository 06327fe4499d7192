import { mkdirSync, writeFileSync } from 'node:fs';
import { canonicalVectors } from './core-rows.ts';
import { checkpointVectors } from './core-rows.ts';
import { citationVectors } from './citation-rows.ts';
import { merkleVectors } from './core-rows.ts';
import { recordHashVectors } from './core-rows.ts';
import { rosterCoreVectors } from './core-rows.ts';
import { seriesChainVectors } from './core-rows.ts';
import { campaign } from '../campaign.ts';
import type { Vector } from './core-rows.ts';

const FOLDER = 'test/vectors';

/** The vector files by name; the same text on every run. */
export function vectorFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, readonly Vector[]>([
    ['canonical.json', canonicalVectors()],
    ['record-hash.json', recordHashVectors()],
    ['citation.json', citationVectors()],
    ['roster-core.json', rosterCoreVectors()],
    ['series-chain.json', seriesChainVectors()],
    ['merkle.json', merkleVectors()],
    ['checkpoint.json', checkpointVectors()],
  ]);
  return new Map(Array.from(files, ([name, rows]) => [name, `${JSON.stringify(rows, null, 1)}\n`]));
}

/** Writes them again. Hashes and signatures come from node:crypto; the checks that read the vectors use other code. */
export const experiment = campaign({}, async ({ say }) => {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of vectorFiles()) {
    writeFileSync(`${FOLDER}/${name}`, text);
    say(`${FOLDER}/${name} ${text.length}`);
  }
  return null;
});
