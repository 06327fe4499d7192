import { startChild } from '../serve-bench/child.ts';
import { answer, latency } from './slow-run.ts';
import { signerFor } from './stage.ts';

/** How long the facilitator takes for each call: hosted ones take 50 to 1,000 ms. */
const DELAY_MS = 300;
const PURCHASES = 30;

/** One buyer after the other at two gatekeepers over one facilitator, in turns: one asks `/verify` first. */
export async function latencyRun(folder: string): Promise<void> {
  const stub = await startChild({ kind: 'facilitator', delayMs: DELAY_MS });
  const facilitator = `http://127.0.0.1:${stub.ports[0]}`;
  const gates = await Promise.all(
    (['always', 'settle-only'] as const).map(async (verify) => {
      const gate = await startChild({ kind: 'gate', folder, facilitator, verify });
      const port = gate.ports[0] ?? 0;
      return { verify, gate, port, sign: await signerFor(port), times: [] as number[] };
    }),
  );
  try {
    for (let at = 0; at < PURCHASES; at++) {
      for (const { port, sign, times } of gates) times.push(await purchaseMs(port, sign));
    }
    console.log(`\none buyer, facilitator takes ${DELAY_MS} ms a call:`);
    for (const { verify, times } of gates) console.log(`  ${verify}: ${latency(times)}`);
  } finally {
    await Promise.all([stub.stop(), ...gates.map(({ gate }) => gate.stop())]);
  }
}

async function purchaseMs(port: number, sign: (count: number) => Buffer[]): Promise<number> {
  const [request = Buffer.alloc(0)] = sign(1);
  const started = performance.now();
  const status = await answer(port, request);
  if (status !== 200) throw new Error(`Cannot bench: status ${status}`);
  return performance.now() - started;
}
