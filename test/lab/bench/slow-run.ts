import { connect } from 'node:net';
import { type Child, startChild } from './child.ts';
import { startGate } from './gate.ts';
import { percentile, signerFor } from './stage.ts';

/** How long the facilitator takes for each call. */
const DELAY_MS = 1000;
/** Free answers are asked for one after the other, like one visitor does. */
const FREE = '/gauge/sample?signal_id=airquality.aqi';
/** Longest wait for one answer. */
const WAIT_MS = 60_000;

interface SlowRunOptions {
  readonly folder: string;
  readonly buyers: number;
}

/** Lets all buyers wait at once for a facilitator that takes a second, and asks for free answers meanwhile. */
export async function slowRun({ folder, buyers }: SlowRunOptions): Promise<void> {
  const stub = await startChild({ kind: 'facilitator', delayMs: DELAY_MS });
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = await startGate({ folder, facilitator });
  try {
    const { port } = gate;
    const sign = await signerFor(port);
    await Promise.all(sign(50).map((request) => answer(port, request)));
    const idle = await freeAnswers(port, () => false, 500);
    const requests = sign(buyers);
    const before = gate.usage();
    const started = performance.now();
    let isOver = false;
    const peak = peakMemory(gate, () => isOver);
    const free = freeAnswers(port, () => isOver, Number.POSITIVE_INFINITY);
    const statuses = await Promise.all(requests.map((request) => answer(port, request)));
    isOver = true;
    const ms = performance.now() - started;
    const paid = statuses.filter((status) => status === 200).length;
    console.log(`\n${buyers} buyers at once, facilitator takes ${DELAY_MS} ms to settle:`);
    console.log(`  ${paid} bought in ${(ms / 1000).toFixed(1)} s, ${buyers - paid} did not`);
    console.log(`  free answers meanwhile: ${latency(await free)}; before: ${latency(idle)}`);
    console.log(
      `  memory: ${megabytes(before.rssBytes)} before, at most ${megabytes(await peak)}, ` +
        `${megabytes(gate.usage().rssBytes)} after`,
    );
  } finally {
    await Promise.all([gate.stop(), stub.stop()]);
  }
}

/** Status of the answer to one request on a connection of its own. */
function answer(port: number, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request));
    socket.setTimeout(WAIT_MS, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(Number(chunk.toString('latin1', 9, 12)));
    });
  });
}

/** Milliseconds of each free answer. */
async function freeAnswers(port: number, isOver: () => boolean, most: number): Promise<number[]> {
  const request = Buffer.from(`GET ${FREE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  const times: number[] = [];
  while (!isOver() && times.length < most) {
    const started = performance.now();
    if ((await answer(port, request)) !== 200) throw new Error('Cannot go on: no free answer');
    times.push(performance.now() - started);
  }
  return times;
}

async function peakMemory(gate: Child, isOver: () => boolean): Promise<number> {
  let most = 0;
  while (!isOver()) {
    most = Math.max(most, gate.usage().rssBytes);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return most;
}

/** Median, tail and maximum in words. */
function latency(times: readonly number[]): string {
  const at = (share: number): string => percentile(times, share).toFixed(1);
  return `${times.length} answered, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MB`;
}
