import { STABLECOIN_DEATHS } from '../../products/collections.ts';
import { endpointAt } from '../../products/products.ts';
import { listsOf } from '../../products/rosters.ts';
import { filePath } from '../../products/shapes/path.ts';
import { readCollection, type StoredRow } from '../../readings/collection-rows.ts';
import { batchOrder } from '../../readings/list-snapshots.ts';
import { type StablecoinDeathRow, stablecoinDeathRowSchema } from '../../readings/roster-rows.ts';
import type { Press } from '../../release/press.ts';
import type { InputFault } from '../../system/compile-error.ts';
import {
  type HashedRow,
  previewHead,
  putHashes,
  putRoster,
  type ReadPart,
  type SettledRoster,
  settleRoster,
} from './settle-rows.ts';

const { id: SIGNAL, preview } = STABLECOIN_DEATHS;

type Deaths = SettledRoster<StablecoinDeathRow>;

/** Stablecoins that died, with what was last measured before, and their preview, which leaves that out. */
export const deathsPart: ReadPart = (collections, asOf) => {
  const { rows, faults } = readCollection(
    { files: collections[SIGNAL], asOf },
    stablecoinDeathRowSchema,
  );
  const keyOf = ({ symbol, name }: StablecoinDeathRow): string => `${symbol}\n${name}`;
  const deaths = settleRoster(rows, { kind: SIGNAL, keyOf, factsOf });
  return {
    faults: [...faults, ...deaths.faults, ...namesakes(deaths)],
    rows: rows.length,
    write(press) {
      const rows = deaths.kept.map((from) => ({ shown: record(from), from }));
      const lastDay = asOf.slice(0, 10);
      for (const product of listsOf(SIGNAL)) {
        putRoster(press, STABLECOIN_DEATHS, { product, lastDay, rows });
      }
      putPreview(press, deaths);
      const place = (from: HashedRow<StablecoinDeathRow>, file: string | null) => {
        return { from, entity: from.row.symbol, file };
      };
      // Every record carries all of its core.
      const file = filePath(endpointAt('/stablecoin-deaths'), {});
      putHashes(press, SIGNAL, [
        ...deaths.kept.map((from) => place(from, file)),
        ...deaths.revised.map((from) => place(from, null)),
      ]);
    },
  };
};

/** A name is in no core: two names for the same facts would share one record hash, and nobody could tell them apart. */
function namesakes({ kept, revised }: Deaths): InputFault[] {
  const seen = new Map<string, HashedRow<StablecoinDeathRow>>();
  return [...revised, ...kept].sort(byPlace).flatMap((found) => {
    if (found.record_hash === null) return [];
    const known = seen.get(found.record_hash) ?? found;
    seen.set(found.record_hash, known);
    return known.row.name === found.row.name ? [] : [namesake(known, found)];
  });
}

function byPlace(a: StoredRow<unknown>, b: StoredRow<unknown>): number {
  if (a.batch !== b.batch) return batchOrder(a.batch) < batchOrder(b.batch) ? -1 : 1;
  return a.line - b.line;
}

function namesake(
  known: StoredRow<StablecoinDeathRow>,
  { file, line, row }: StoredRow<StablecoinDeathRow>,
): InputFault {
  const message =
    `"${row.name}" tells the same facts as "${known.row.name}" in line ${known.line} of "${known.file}", ` +
    'and the record hash holds no name; keep one of the two';
  return { code: 'conflict', file, line, field: 'name', message };
}

function factsOf(row: StablecoinDeathRow) {
  return {
    symbol: row.symbol,
    name: row.name,
    death_type: row.death_type,
    confirmed_dead_at: row.confirmed_dead_at,
    pre_death_observed_at: row.pre_death_observed_at,
    first_distress_at: row.first_distress_at,
    lifespan_days: row.lifespan_days ?? null,
    pre_death_payload: row.pre_death_payload,
    death_context: row.death_context,
    source_ref: row.source_ref,
    source_tier: row.source_tier,
  };
}

function record({ row, record_hash }: HashedRow<StablecoinDeathRow>): object {
  return { ...factsOf(row), record_hash, hash_core_version: record_hash === null ? null : 3 };
}

function putPreview(press: Press, { kept }: Deaths): void {
  const [first] = kept;
  const counts = {
    deaths: kept.length,
    with_hash: kept.filter(({ record_hash }) => record_hash !== null).length,
  };
  const body = {
    ...previewHead(press, STABLECOIN_DEATHS, counts),
    example_request: first === undefined ? null : '/stablecoin-deaths',
    death_types: [...new Set(kept.map(({ row }) => row.death_type))].sort(),
    example: first === undefined ? null : shortRecord(first.row),
  };
  press.put(preview, {}, body);
}

function shortRecord({ symbol, name, death_type, confirmed_dead_at }: StablecoinDeathRow) {
  return { symbol, name, death_type, confirmed_dead_at };
}
