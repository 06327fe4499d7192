import { openSync, writeSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { loadConfig } from '../../gatekeeper/config.ts';
import { lineLog } from '../../gatekeeper/http/line-log.ts';
import { LogOutput } from '../../gatekeeper/log/log-output.ts';
import { signaturePool } from '../../gatekeeper/payment/signature-pool.ts';
import { startGatekeeper } from '../../gatekeeper/start.ts';

/** Any address will do: nothing is ever settled. */
export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

export interface GateOptions {
  /** Holds `data`, a folder of releases; the journal and the log go beside it. */
  readonly folder: string;
  /** Null for the facilitator inside the process. */
  readonly facilitator: string | null;
  /** As the setting has it; the gatekeeper's own default where it is left out. */
  readonly verify?: 'always' | 'settle-only';
}

/** Starts the gatekeeper as it is run for real, with its journal and its log on disk; tells its port. */
export async function startGate(options: GateOptions): Promise<number> {
  const { folder, facilitator, verify } = options;
  const state = await mkdtemp(join(folder, 'state-'));
  const log = openSync(join(state, 'log'), 'a');
  const clock = (): number => Date.now();
  const remote = facilitator === null ? {} : { facilitator_url: facilitator };
  const data = join(folder, 'data');
  const settings = { port: '0', rate_limit: '0', pay_to: PAYEE, data, state, ...remote };
  const asked = verify === undefined ? settings : { ...settings, verify };
  const config = loadConfig({ options: asked, env: {}, fileText: null });
  const file = { writableLength: 0, write: (text: string): number => writeSync(log, text) };
  const lines = lineLog(new LogOutput(file), { clock });
  const worker = new Worker(
    new URL('../../gatekeeper/payment/signature-worker.js', import.meta.url),
  );
  const signatures = signaturePool(worker);
  worker.unref();
  const { url } = await startGatekeeper(config, { clock, log: lines, signatures });
  return Number(new URL(url).port);
}
