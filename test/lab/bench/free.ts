import { join } from 'node:path';
import { HASH_BYTES } from '../../../compiler/format/merkle.ts';
import { PUBLIC_LIST_URL, parseFiles, publicFileUrl } from '../../../compiler/format/release.ts';
import { costOfReading, costOfSending } from '../../../gatekeeper/wire/cost.ts';
import { bench, columns, compileSample, median, type Server } from '../bench.ts';
import { allCases, type FreeCase, type FreeSubject, longestRow } from './free-cases.ts';
import { load } from './load.ts';

const CONNECTIONS = 8;
const LOAD_MS_MAX = 30_000;
const GOAL = 2;
/** More than the sample has pairs, and shards of its look-up lists. */
const WARM_UP_REQUESTS = 1000;
/** Answers from this size on are asked for less often: they say the same after a few. */
const LONG_BYTES = 200_000;
const JSON_BODY = { 'content-type': 'application/json' };
const WIDTHS = [36, 7, 9, 9, 10, 8, 9];

interface MeasuredCase {
  readonly one: FreeCase;
  readonly status: number;
  readonly bytes: number;
  readonly micros: number[];
  asked: number;
}

/**
 * CPU of the shipped program, its log and its journal on, for everything that can be asked without paying, each request
 * spelt as no other was, in interleaved rounds of one run. Judge by the ratios: every free GET should take less than
 * twice the CPU of the median operation; what takes more is bounded by the units of the rate limit that it costs.
 * `--only` is a regular expression.
 */
export const experiment = bench(
  { rounds: 5, requests: 300, 'warm-up': WARM_UP_REQUESTS, only: '' },
  async ({ flags, folder, gate, say, progress }) => {
    await compileSample(folder);
    const child = await gate({ folder });
    const { port } = child;
    const cases = allCases(await subjectAt(port, join(folder, 'data'))).filter(({ name }) =>
      new RegExp(flags.only).test(name),
    );
    const measured: MeasuredCase[] = [];
    for (const one of cases)
      measured.push({ one, ...(await askOnce(port, one)), micros: [], asked: 0 });
    // The code is compiled, what is made once is filled, and every file of the sample is read.
    for (const each of measured) await cpuMicros(child, each, flags['warm-up']);
    for (let round = 0; round < flags.rounds; round += 1) {
      for (const each of measured) each.micros.push(await cpuMicros(child, each, flags.requests));
      progress(round, flags.rounds);
    }
    report(measured, say);
  },
);

async function subjectAt(port: number, data: string): Promise<FreeSubject> {
  const at = `http://127.0.0.1:${port}`;
  const { signals } = (await (await fetch(`${at}/gauge/catalog?all=1`)).json()) as {
    signals: readonly { signal_id: string; entities: readonly { entity: string }[] }[];
  };
  const pairs = signals.flatMap(({ signal_id, entities }) =>
    entities.map(({ entity }) => `${new URLSearchParams({ signal_id, entity })}`),
  );
  const taken = Buffer.from(await (await fetch(`${at}/log/new/1`)).arrayBuffer());
  const hashes: string[] = [];
  for (let from = 0; from < taken.length; from += HASH_BYTES) {
    hashes.push(`sha256:${taken.toString('hex', from, from + HASH_BYTES)}`);
  }
  const record = await (await fetch(`${at}/gauge/sample`)).text();
  const list = await (await fetch(`${at}${PUBLIC_LIST_URL}`)).text();
  const previews = parseFiles(list).filter(({ path }) => path.startsWith('free/history-preview/'));
  const publicFiles = previews.map(publicFileUrl);
  return { pairs, hashes, record, row: longestRow(data), publicFiles };
}

async function askOnce(
  port: number,
  { target, body }: FreeCase,
): Promise<{ status: number; bytes: number }> {
  const sent = body === undefined ? {} : { method: 'POST', headers: JSON_BODY, body: body(0) };
  const answer = await fetch(`http://127.0.0.1:${port}${target(0)}`, sent);
  return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
}

async function cpuMicros(child: Server, each: MeasuredCase, wanted: number): Promise<number> {
  const { one, status, bytes } = each;
  const count = Math.ceil(wanted / (bytes > LONG_BYTES ? 10 : 1));
  const requests = Array.from({ length: count }, (_, at) => requestBytes(one, each.asked + at + 1));
  each.asked += count;
  const before = child.usage();
  const { port } = child;
  const by = { port, connections: CONNECTIONS, requests };
  const { answers } = await load({ ...by, status, ms: LOAD_MS_MAX });
  const after = child.usage();
  return (1000 * (after.cpuMs - before.cpuMs)) / answers;
}

function requestBytes({ target, body }: FreeCase, n: number): Buffer {
  const host = 'HTTP/1.1\r\nHost: 127.0.0.1\r\n';
  if (body === undefined) return Buffer.from(`GET ${target(n)} ${host}\r\n`);
  const text = body(n);
  const length = `Content-Length: ${Buffer.byteLength(text)}\r\n`;
  return Buffer.from(
    `POST ${target(n)} ${host}Content-Type: application/json\r\n${length}\r\n${text}`,
  );
}

function report(measured: readonly MeasuredCase[], say: (line: string) => void): void {
  const gets = measured.filter(({ one }) => one.body === undefined);
  const operations = gets.filter(({ one }) => one.isOperation);
  const middle = median(operations.map(({ micros }) => median(micros)));
  say(columns(WIDTHS, ['operation', 'status', 'bytes', 'us CPU', 'x median', 'units', 'us/unit']));
  for (const { one, status, bytes, micros } of measured) {
    const cpu = median(micros);
    const long = Math.max(0, one.target(0).length - 1024);
    const units = one.units + costOfReading(long) + costOfSending(bytes);
    const figures = [cpu.toFixed(0), (cpu / middle).toFixed(2), units.toFixed(1)];
    say(columns(WIDTHS, [one.name, status, bytes, ...figures, (cpu / units).toFixed(0)]));
  }
  say(`\nmedian free GET: ${middle.toFixed(0)} us`);
  for (const { one, micros } of gets) {
    const ratio = median(micros) / middle;
    if (ratio >= GOAL) say(`MISSED: ${one.name} takes ${ratio.toFixed(2)} x the median`);
  }
}
