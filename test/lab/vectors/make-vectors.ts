// Writes test/vectors/*.json. Hashes and signatures come from node:crypto, the checks that read the vectors use other code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { canonicalVectors } from './canonical-rows.ts';
import { checkpointVectors } from './checkpoint-rows.ts';
import { citationVectors } from './citation-rows.ts';
import { merkleVectors } from './merkle-rows.ts';
import { recordHashVectors } from './record-hash-rows.ts';
import { rosterCoreVectors } from './roster-core-rows.ts';
import { seriesChainVectors } from './series-chain-rows.ts';
import { settlementVectors } from './settlement-rows.ts';
import type { Vector } from './vector.ts';

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
    ['settlement.json', settlementVectors()],
  ]);
  return new Map(Array.from(files, ([name, rows]) => [name, `${JSON.stringify(rows, null, 1)}\n`]));
}

const main = process.argv[1];
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of vectorFiles()) {
    writeFileSync(`${FOLDER}/${name}`, text);
    console.log(`${FOLDER}/${name} ${text.length}`);
  }
}
