// Five years of a small shop: monthly releases, two rotations under a root, a theft that is noticed late, a witness that dies, a
// rollback, a fork and a freeze. Says what was noticed, and in which words `verify` judges what was bought over the years.
//
//   node build/scripts/five-years.js [seed]

import { pathToFileURL } from 'node:url';
import { removeFolders } from '../../snapshot-folder.ts';
import { type Judged, judgeAll } from './judged.ts';
import { ShopLife } from './shop-life.ts';

const SEED_DEFAULT = 24;

/** How often each words were said, by kind of body and by reader. */
function countedRows(judged: readonly Judged[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind, reader, words, expected } of judged) {
    const odd = words === expected ? '' : `   EXPECTED: ${expected}`;
    const row = `${kind.padEnd(32)} ${reader.padEnd(10)} ${words}${odd}`;
    counts.set(row, (counts.get(row) ?? 0) + 1);
  }
  return [...counts].sort().map(([row, count]) => `${String(count).padStart(3)}  ${row}`);
}

async function main(seed: number): Promise<boolean> {
  const started = performance.now();
  const life = new ShopLife(seed);
  await life.live();
  const { sold, forged } = await judgeAll(life);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `seed ${seed}: ${life.plan.months} months, ${life.bodies.length} bodies, ${seconds} s`,
  );
  for (const { month, event, noticed } of life.incidents) {
    console.log(`month ${month}: ${event}`);
    for (const each of noticed) console.log(`  ${each}`);
  }
  console.log(`noticed though nothing was wrong: ${life.falseAlarms.join('; ') || 'nothing'}`);
  for (const row of [...countedRows(sold), ...countedRows(forged)]) console.log(row);
  const odd = [...sold, ...forged].filter(({ words, expected }) => words !== expected);
  return odd.length + life.falseAlarms.length === 0;
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(program).href) {
  try {
    process.exitCode = (await main(Number(process.argv[2] ?? SEED_DEFAULT))) ? 0 : 1;
  } finally {
    removeFolders();
  }
}
