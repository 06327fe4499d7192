import { setTimeout as sleep } from 'node:timers/promises';
import { HostError, type HostFile, type HostRequest, type StaticHost } from './static-host.ts';

const ATTEMPTS_MAX = 3;
/** Before the second attempt; before each later one four times as long. */
const PAUSE_MS = 100;
/** What took so long is not repeated: somebody waits for it. */
const PATIENCE_MS = 5_000;

/** Asks again where that may help: a connection that broke, a host that is busy. Throws the HostError of the last attempt. */
export async function patientGet(host: StaticHost, request: HostRequest): Promise<HostFile | null> {
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await host.get(request);
    } catch (error) {
      const isFinal = !(error instanceof HostError) || error.isFinal;
      const isLate = performance.now() - startedAt > PATIENCE_MS;
      if (isFinal || isLate || attempt === ATTEMPTS_MAX) throw error;
      await sleep(PAUSE_MS * 4 ** (attempt - 1));
    }
  }
}
