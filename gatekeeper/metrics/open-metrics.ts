import type { MetricsSettings } from '../config/setting-forms.ts';
import { type Instruments, type InstrumentsOptions, instruments } from './instruments.ts';
import { type MetricsEndpoint, metricsEndpoint } from './metrics-endpoint.ts';
import { startMetricsServer } from './metrics-server.ts';

/** Metrics that can be read. */
export interface OpenMetrics extends Pick<Instruments, 'meters' | 'watch'> {
  /** Opens /metrics at the address of the service; null where they have one of their own. */
  readonly endpoint: MetricsEndpoint | null;
  /** Where they have an address of their own; null where they have none. */
  readonly url: string | null;
  close(): Promise<void>;
}

/** Loaded only where metrics are on: their library costs a start some 30 ms. */
export async function openMetrics(
  { address, token }: MetricsSettings,
  options: InstrumentsOptions,
): Promise<OpenMetrics> {
  const { meters, watch, ...shown } = instruments(options);
  const endpoint = metricsEndpoint(shown, token);
  if (address === null) return { meters, watch, endpoint, url: null, close: async () => {} };
  const server = await startMetricsServer({ address, endpoint, hasToken: token !== null });
  const { url, close } = server;
  return { meters, watch, endpoint: null, url, close };
}
