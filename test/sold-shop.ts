import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { ENDPOINTS, type Endpoint } from '../compiler/contract/endpoints.ts';
import { isoTime } from '../compiler/contract/iso-time.ts';
import { answer } from '../gatekeeper/answers/answers.ts';
import { SAMPLE_AS_OF } from '../scripts/sample/sample-times.ts';
import { OPERATIONS } from './conformance-table.ts';
import { compiledService } from './gatekeeper/compiled-service.ts';
import { question } from './gatekeeper/tiny-service.ts';
import { tinyTokens } from './gatekeeper/tiny-tokens.ts';
import { compileFolder, makeFolder, ndjson, reading, writeSnapshots } from './snapshot-folder.ts';

const SAMPLE = join(import.meta.dirname, '../snapshots');
/** The line that needs a data key, which the sample cannot have: with it every operation has something to sell. */
const KEYED = {
  'forecast-stress': { forecast_peak_pct: 71.5, band: 'slack' },
  stress: { demand_peak_pct: 64.2, demand_mw: 52000, band: 'normal' },
  'realized-strain': { realized_peak_pct: 60.1, band: 'nominal' },
};
/** Half an hour after the sample was published. */
const NOW_MS = Date.parse(SAMPLE_AS_OF) + 1_800_000;

/** A shop that sells every operation of the table, asked without a server and without money. */
export interface SoldShop {
  readonly data: string;
  readonly did: string;
  readonly now: string;
  readonly service: Awaited<ReturnType<typeof compiledService>>;
  /** The bytes that a paid request of this target delivers; throws where it would not be charged. */
  ask(target: string): Promise<Buffer>;
}

export async function soldShop(): Promise<SoldShop> {
  const snapshots = join(makeFolder(), 'snapshots');
  cpSync(SAMPLE, snapshots, { recursive: true });
  const batch = Object.entries(KEYED).map(([name, current]) => [
    `2026-11-20/grid-reliability.${name}.ndjson`,
    ndjson([reading('ercot', current)]),
  ]);
  writeSnapshots(Object.fromEntries(batch), snapshots);
  const { data, release } = await compileFolder(snapshots, { asOf: SAMPLE_AS_OF });
  const now = isoTime(NOW_MS);
  const plain = await compiledService(data, now);
  const operator = { ...plain.operator, tokens: tinyTokens({ clock: () => NOW_MS }) };
  const service = { ...plain, operator };
  return {
    data,
    did: release.issuer_did,
    now,
    service,
    async ask(target) {
      const answered = await answer(question(target), service);
      if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no answer`);
      return answered.content.body;
    },
  };
}

/** A request of each of the 64 paid operations that has an answer in such a shop. */
export const SOLD_TARGETS: readonly string[] = OPERATIONS.filter(({ price }) => price !== null).map(
  ({ path, valid }) => (valid === '' ? path : `${path}?${valid}`),
);

/** The other compiled forms of the paid operations: thin, or with the pre-image of each row. */
export const VARIANT_TARGETS: readonly string[] = SOLD_TARGETS.flatMap((target) => {
  const [path] = target.split('?', 1);
  const row = (ENDPOINTS as readonly Endpoint[]).find((one) => one.path === path);
  return Object.entries(row?.params ?? {}).flatMap(([name, { variant }]) =>
    Object.keys(variant ?? {}).map(
      (value) => `${target}${target.includes('?') ? '&' : '?'}${name}=${value}`,
    ),
  );
});
