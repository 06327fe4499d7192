import { type Child, CORES, pin, startChild } from './child.ts';
import { startGate } from './gate.ts';
import { load } from './load.ts';
import { percentile, signerFor } from './stage.ts';
import { median } from './table.ts';

const LOAD_MS = 60_000;
/** How much longer the slowest of a hundred buyers may wait than the middle one. */
const TAIL_MAX = 3;

interface CrowdRunOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly buyers: number;
  /** What all of them buy in one round. */
  readonly payments: number;
}

/** How fairly buyers are served who all ask at once, one purchase after the other, with an instant facilitator. */
export async function crowdRun({
  folder,
  rounds,
  buyers,
  payments,
}: CrowdRunOptions): Promise<void> {
  pin(process.pid, CORES.rest);
  const stub = await startChild({ kind: 'facilitator' });
  pin(stub.pid, CORES.rest);
  const facilitator = `http://127.0.0.1:${stub.port}`;
  const gate = await startGate({ folder, facilitator, verify: 'settle-only' });
  pin(gate.pid, CORES.server);
  try {
    const sign = await signerFor(gate.port);
    const by = { port: gate.port, connections: buyers, ms: LOAD_MS };
    const waits: (readonly number[])[] = [];
    for (let round = 0; round <= rounds; round++) {
      waits.push((await load({ ...by, requests: sign(payments), status: 200 })).waits);
    }
    print(waits.slice(1), buyers);
  } finally {
    await stopAll([gate, stub]);
  }
}

function stopAll(children: readonly Child[]): Promise<unknown> {
  return Promise.all(children.map((child) => child.stop()));
}

function print(rounds: readonly (readonly number[])[], buyers: number): void {
  const p50 = median(rounds.map((waits) => percentile(waits, 0.5)));
  const p99 = median(rounds.map((waits) => percentile(waits, 0.99)));
  const word = p99 <= TAIL_MAX * p50 ? 'reached' : 'MISSED';
  console.log(`\n${buyers} buyers at once, instant facilitator, settle only:`);
  console.log(
    `  p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms: ${(p99 / p50).toFixed(2)} x; ` +
      `target ${TAIL_MAX} x ${word}`,
  );
}
