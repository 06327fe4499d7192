import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOUR_MS, isoTime } from '../../../../../compiler/format/iso-time.ts';
import { grouped } from '../../../../../compiler/format/lists.ts';
import { isObject, type JsonValue, parseJson } from '../../../../../compiler/format/strict-json.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { answer } from '../../../../../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import type { Gatekeeper } from '../../../../../gatekeeper/start.ts';
import { sampleGate } from '../../../../gate.ts';
import { compiledService, question } from '../../../../gatekeeper/tiny-service.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

const DAYS = 30;
const END = Date.parse('2026-11-20T11:00:00Z');
/** What is observed each hour: a river by two gauges, and a price. */
const PAIRS = [
  ['hydrology.river-level', '07010000', 'stage_ft'],
  ['hydrology.river-level', '08158000', 'stage_ft'],
  ['crypto.spot', 'btc', 'price_usd'],
] as const;
const NOW = Date.parse('2026-11-20T12:30:00Z');

let service: Service;
let gate: Gatekeeper;
beforeAll(async () => {
  const snapshots = writeSnapshots(hourlySet());
  const { data } = await compileFolder(snapshots, { asOf: '2026-11-20T12:00:00Z' });
  service = await compiledService(data, NOW);
  gate = await sampleGate(data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

/** What one hour observed, by the time of what it is about. */
function rowsOf(collected: number, observed: number, value: number) {
  const times = { observed_at: isoTime(observed), collected_at: isoTime(collected) };
  return PAIRS.map(([signal, entity, metric]) => ({
    path: `${times.collected_at.slice(0, 13)}Z/${signal}.ndjson`,
    row: reading(entity, { [metric]: value }, times),
  }));
}

/**
 * A batch each hour, behind three days of the years before. One hour in 25 revises the reading of the hour before, one in 31
 * repeats it.
 */
function hourlySet() {
  const past = [1, 2, 3, 4, 5].flatMap((year) =>
    [0, 1, 2].flatMap((day) => {
      const at = END - (year * 365 + day) * 24 * HOUR_MS;
      return rowsOf(at + HOUR_MS / 2, at, 10 + year);
    }),
  );
  const priceOf = (hour: number): number => 10 + (hour % 50) / 10;
  const hours = Array.from({ length: DAYS * 24 }, (_, hour) => hour).flatMap((hour) => {
    const at = END - (DAYS * 24 - 1 - hour) * HOUR_MS;
    const collected = at + HOUR_MS / 2;
    return [
      ...rowsOf(collected, at, priceOf(hour)),
      ...(hour % 25 === 24 ? rowsOf(collected, at - HOUR_MS, 90) : []),
      ...(hour % 31 === 30 ? rowsOf(collected, at - HOUR_MS, priceOf(hour - 1)) : []),
    ];
  });
  const files = grouped([...past, ...hours], ({ path }) => path);
  return Object.fromEntries(
    [...files].map(([path, all]) => [path, ndjson(all.map(({ row }) => row))]),
  );
}

async function bodyOf(target: string): Promise<string> {
  const answered = await answer(question(target), service);
  if (answered.kind !== 'content') throw new Error(`no answer to "${target}"`);
  return answered.content.body.toString('utf8');
}

/** Each record hash of a JSON body that is not the one of a citation. */
function* recordHashes(value: JsonValue): Generator<string> {
  if (Array.isArray(value)) {
    for (const one of value) yield* recordHashes(one);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === 'record_hash' && typeof member === 'string') yield member;
      else if (name !== '_citation') yield* recordHashes(member);
    }
  }
}

const HASH = /sha256:[0-9a-f]{64}/g;

async function proofOf(hash: string) {
  const response = await fetch(new URL(`/proof/${hash}`, gate.url));
  return { status: response.status, body: parseJson(await response.text()) };
}

const trust = () => [service.release.head.issuer_did];

it('I73: each record hash of a sold series or history of a cold compile of 30 days has a proof', async () => {
  const hashes = new Set<string>();
  for (const [signal, entity] of PAIRS) {
    const of = `signal_id=${signal}&entity=${entity}`;
    const series = `/gauge/history-series?${of}&days=${DAYS + 1}`;
    const inJson = new Set<string>();
    // A price has no season, so it has no history.
    const history = signal === 'crypto.spot' ? [] : [`/gauge/history?${of}`];
    for (const target of [`/gauge?${of}`, ...history, series, `${series}&verifiable=1`]) {
      for (const hash of recordHashes(parseJson(await bodyOf(target)))) inJson.add(hash);
    }
    expect(inJson.size).toBeGreaterThanOrEqual(DAYS * 24);
    const csv = await bodyOf(`${series}&format=csv`);
    const inCsv = csv.match(HASH) ?? [];
    expect(new Set(inCsv).size).toBeGreaterThanOrEqual(DAYS * 24);
    for (const hash of [...inJson, ...inCsv]) hashes.add(hash);
  }
  const wrong: [string, number, string][] = [];
  for (const hash of hashes) {
    const { status, body } = await proofOf(hash);
    const { verdict } = verifyBody(body, { trust: trust(), now: NOW });
    if (status !== 200 || verdict !== 'partly_verified') wrong.push([hash, status, verdict]);
  }
  expect(wrong).toEqual([]);
});

it('finds no proof of a hash that was never taken in', async () => {
  const csv = await bodyOf(
    `/gauge/history-series?signal_id=crypto.spot&entity=btc&days=${DAYS + 1}&format=csv`,
  );
  const [known = ''] = csv.match(HASH) ?? [];
  const unknown = `${known.slice(0, -1)}${known.endsWith('0') ? '1' : '0'}`;
  const { body } = await proofOf(unknown);
  expect(body).toMatchObject({ hash: unknown, found: false, inclusion: null });
  expect(verifyBody(body, { trust: trust(), now: NOW }).verdict).toBe('unsigned');
  // Nor does the proof of another one stand for it.
  const { body: other } = await proofOf(known);
  const forged = parseJson(JSON.stringify(other).replaceAll(known, unknown));
  expect(verifyBody(forged, { trust: trust(), now: NOW }).verdict).toBe('failed');
});
