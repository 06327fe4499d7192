import type { ServiceOptions } from './answers/open-service.ts';
import type { Config } from './config/config.ts';
import type { GateServerOptions } from './http/server.ts';
import type { OpenMetrics } from './metrics/open-metrics.ts';
import type { PaymentServiceOptions, PaymentServices } from './payment/open-payment-services.ts';
import type { ReleaseSource } from './release/release-source.ts';
import type { SourceOptions } from './remote/open-source.ts';
import type { ServiceState } from './state/service-state.ts';

/** What a gatekeeper gets besides its settings. */
export interface StartOptions
  extends ServiceOptions,
    Omit<PaymentServiceOptions, 'state'>,
    Omit<SourceOptions, 'state'> {
  readonly pollMs?: number;
  /** How long the server waits for clients, in milliseconds; else SERVER_TIMES. */
  readonly times?: GateServerOptions['times'];
  /** Of the package, for the log. */
  readonly version?: string;
  /** Descriptor of a socket that listens already, in place of the address of the settings. */
  readonly fd?: number | null;
  /** Which of several processes this one is; what one alone has to do, the first one (0) does. */
  readonly place?: number;
}

/** What a gatekeeper runs with. */
export interface Setting {
  readonly config: Config;
  readonly by: StartOptions & { readonly state: ServiceState };
  readonly payments: PaymentServices;
  readonly source: ReleaseSource;
  readonly metrics: OpenMetrics | null;
}
