// Writes at least 500 bodies with the verdict that every judge has to come to, as FOLDER/bodies.ndjson. The command, the
// service, the client and verify_record.py judge each of them; where two disagree, the run fails and names it.
//
//   npm run vectors:bodies -- FOLDER [seed] [vectors]

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defined } from '../../../compiler/contract/defined.ts';
import { basketCases } from './basket-cases.ts';
import { BODIES_NAME, type BodyVectors, type ReaderCase } from './body-vector.ts';
import { readingVectors, settlementVectors } from './body-vectors.ts';
import { demandCases } from './demand-cases.ts';
import { keyCases } from './key-cases.ts';
import { otherFormCases } from './other-form-cases.ts';
import { readerVectors } from './reader-vectors.ts';
import { receiptCases } from './receipt-cases.ts';
import { signedTables } from './signed-tables.ts';
import { seeded } from '../flips/flips.ts';
import type { Delivery } from '../forgeries/forgery.ts';
import { type ReadingShop, readingShop } from '../forgeries/reading-shop.ts';
import { settlementShop } from '../forgeries/settlement-shop.ts';
import type { Random } from '../forgeries/spliced-answers.ts';

const SEED_DEFAULT = 24;
const VECTORS_DEFAULT = 600;

/** The vectors of two draws as one file, numbered through. */
export function bodiesText(parts: readonly BodyVectors[]): string {
  const rows = parts.flatMap((part) => part.rows);
  return rows.map((row, at) => `${JSON.stringify({ ...row, id: at + 1 })}\n`).join('');
}

async function drawn(seed: number, count: number): Promise<BodyVectors[]> {
  const draw = { most: Math.ceil(count / 2), random: seeded(seed) };
  const settled = await settlementVectors(await settlementShop(), draw);
  const shop = await readingShop();
  const last = [...shop.moments.values()].flatMap((served) => served.at(-1) ?? []);
  return [
    settled,
    await readingVectors(shop, await signedTables(shop), draw),
    await readerVectors(readerCases(last, { ...draw, now: shop.now }), shop),
  ];
}

/** Bodies, baskets and receipts, each with a reader who knows or demands something. */
export function readerCases(
  served: readonly Delivery[],
  { now, random }: Pick<ReadingShop, 'now'> & { readonly random: Random },
): ReaderCase[] {
  const signed = served.filter(({ body }) => body._citation !== undefined);
  const record = defined(
    signed.find(({ target }) => target.startsWith('/gauge?')),
    'a record',
  );
  return [
    ...demandCases(signed, now),
    ...basketCases(signed),
    ...keyCases(record, random),
    ...receiptCases(record),
    ...otherFormCases(record),
  ];
}

function report(parts: readonly BodyVectors[], folder: string): void {
  const rows = parts.flatMap((part) => part.rows);
  const counts: Record<string, number> = {};
  for (const { class: name, verdict } of rows) {
    const key = `${name}, ${verdict}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  console.log(`${rows.length} vectors in ${join(folder, BODIES_NAME)}: ${JSON.stringify(counts)}`);
  const disputed = parts.flatMap((part) => part.disputed);
  console.log(`${disputed.length} disputed`);
  for (const line of disputed) console.log(`  ${line.slice(0, 400)}`);
  if (disputed.length > 0) process.exitCode = 1;
}

const main = process.argv[1];
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  const [folder, ...numbers] = process.argv.slice(2);
  const [seed = SEED_DEFAULT, count = VECTORS_DEFAULT] = numbers.map(Number);
  if (folder === undefined) throw new RangeError('Name a folder: npm run vectors:bodies -- FOLDER');
  const home = mkdtempSync(join(tmpdir(), 'signalpress-vectors-'));
  process.env.TMPDIR = home;
  try {
    const parts = await drawn(seed, count);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, BODIES_NAME), bodiesText(parts));
    report(parts, folder);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
