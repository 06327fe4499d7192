import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { check } from '../../../gatekeeper/rooms/check.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../../gatekeeper/start.ts';
import { smallSet } from '../../small-set.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { NOW_MS, payer } from '../payer.ts';
import { tinyConfig } from '../tiny-gate.ts';
import { compiledService, jsonOf, question } from '../tiny-service.ts';

const DAY_MS = 86_400_000;
const SIGNAL = 'hydrology.river-level';
const [SOLD, UNSOLD] = ['08167000', '08158000'];
const product = (entity = SOLD) => `/gauge?entity=${entity}&signal_id=${SIGNAL}`;
const series = `/gauge/history-series?entity=${SOLD}&signal_id=${SIGNAL}`;
const batch = (hour: string, stage_ft: number) =>
  ndjson(
    [SOLD, UNSOLD].map((entity) =>
      reading(
        entity,
        { stage_ft },
        {
          observed_at: `2026-11-20T${hour}:00:00Z`,
          collected_at: `2026-11-20T${hour}:20:00Z`,
        },
      ),
    ),
  );

let gate: Gatekeeper;
const shop = { now: NOW_MS, snapshots: '', data: '' };
beforeAll(async () => {
  shop.snapshots = writeSnapshots({ [`2026-11-20/${SIGNAL}.ndjson`]: batch('09', 4) });
  shop.data = (await compileFolder(shop.snapshots)).data;
  const by = { clock: () => shop.now, log: () => undefined };
  gate = await startGatekeeper(tinyConfig(shop.data), by);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

/** Sells other readings from now on. */
async function publishNewer(hour: string): Promise<void> {
  writeSnapshots(
    { [`2026-11-20T${hour}Z/${SIGNAL}.ndjson`]: batch(hour, Number(hour)) },
    shop.snapshots,
  );
  await compileFolder(shop.snapshots, { data: shop.data, asOf: `2026-11-20T${hour}:30:00Z` });
  await gate.checkRelease();
}

async function buy(target: string): Promise<string> {
  const { accepts } = (await (await fetch(gate.url + target)).json()) as {
    accepts: readonly [RequirementsV1];
  };
  const validBefore = String(shop.now / 1000 + 300);
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0], { validBefore });
  const answer = await fetch(gate.url + target, { headers: { 'x-payment': header } });
  expect(answer.status).toBe(200);
  return verifyPath((await answer.json()) as Cited);
}

interface Cited {
  readonly _citation: { readonly verify_url: string };
}

function verifyPath({ _citation }: Cited): string {
  return new URL(_citation.verify_url).pathname;
}

async function lookUp(path: string): Promise<Readonly<Record<string, unknown>>> {
  return (await (await fetch(gate.url + path)).json()) as Record<string, unknown>;
}

describe('the verify_url of a sold body', () => {
  it('I19: still finds it when a newer release has replaced it, and nothing that was not sold', async () => {
    const [record, rows] = [await buy(product()), await buy(series)];
    const unsold = verifyPath(readJson(`${shop.data}/current`, `record/${SIGNAL}/${UNSOLD}.json`));
    for (const path of [record, rows, unsold]) {
      const current = { found: true, verified: true, record_status: { state: 'current' } };
      expect(await lookUp(path)).toMatchObject(current);
    }
    await publishNewer('12');
    for (const path of [record, rows, `${record.slice(0, 20)}`]) {
      expect(await lookUp(path)).toMatchObject({
        found: true,
        verified: true,
        is_issuer_record: true,
        record_status: { state: 'superseded' },
        signal_id: SIGNAL,
        entity: SOLD,
        observed_at: '2026-11-20T09:00:00Z',
        statement: expect.stringContaining('as an earlier release sold it'),
      });
    }
    const proven = await lookUp(record.replace('/v/', '/proof/'));
    expect(proven).toMatchObject({ found: true, kind: 'citation', inclusion: null });
    expect(proven).toMatchObject({
      hash_core: null,
      hash_core_members: expect.arrayContaining(['fact']),
    });
    expect(JSON.stringify(proven)).not.toContain('stage_ft');
    expect(await lookUp(unsold)).toMatchObject({ found: false });
  });

  it('I19: finds it for as long as the body is kept', async () => {
    const sold = await buy(product());
    await publishNewer('13');
    expect(await lookUp(sold)).toMatchObject({ record_status: { state: 'superseded' } });
    shop.now += 32 * DAY_MS;
    expect(await lookUp(sold)).toMatchObject({ found: true });
    await buy(product(UNSOLD));
    expect(await lookUp(sold)).toMatchObject({ found: false });
  });
});

// A body of a key that has ended, judged by the service that signs with the next one.

const [FIRST, SECOND] = [61, 62].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
];
const ROTATED = {
  from: '2026-11-21T00:00:00Z',
  now: '2026-11-20T13:00:00Z',
  overlapDays: 1,
} as const;
const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const PUBLISHED = '2026-11-21T12:00:00Z';
const LATER = '2026-11-23T12:00:00Z';

let data: string;
let old: Buffer;
beforeAll(async () => {
  const snapshots = writeSnapshots(smallSet());
  ({ data } = await compileFolder(snapshots, { seed: FIRST }));
  const service = await compiledService(data, ROTATED.now);
  const asked = question(TARGET);
  const answered = await answer(asked, service);
  if (answered.kind !== 'content') throw new Error('no answer');
  old = (await proven(answered.content, asked, service)).body;
  rotateKey({ data, old: FIRST, next: SECOND, ...ROTATED });
  await compileFolder(snapshots, { data, seed: SECOND, asOf: PUBLISHED });
});
afterAll(removeFolders);

async function judged(body: Buffer, folder = data) {
  const service = await compiledService(folder, LATER);
  return jsonOf(await check(question('/verify', 'application/json', body), service));
}

/** A copy of the shop. */
function copied(): string {
  const copy = join(makeFolder(), 'data');
  cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

describe('a body of a key that has ended', () => {
  it('I62: is led to the newest checkpoint by the log of the service', async () => {
    const report = await judged(old);
    expect(report).toMatchObject({ verdict: 'verified', is_issuer_record: true });
    expect(JSON.stringify(report.details)).toContain('which is in use, signed the log with it');
  });

  it('I62: cannot be judged where the log cannot be read', async () => {
    const copy = copied();
    writeFileSync(join(copy, CHECKPOINT_PATH), 'damaged');
    expect(await judged(old, copy)).toMatchObject({ verdict: 'unsigned' });
  });

  it('I62: fails where another entry stands in its place', async () => {
    const text = old.toString();
    const moved = text.replace(/\\nindex 0\\n/, '\\nindex 1\\n');
    expect(moved).not.toBe(text);
    expect(await judged(Buffer.from(moved))).toMatchObject({ verdict: 'failed' });
  });
});
