import { type Config, settlementOf } from './config.ts';
import { TEST_WARNING } from './test-payments.ts';

const NO_NODE =
  'No chain node is asked. If the answer to a settlement is lost, nobody can tell whether the buyer was charged, ' +
  'so a buyer may pay and get nothing. Set SIGNALPRESS_RPC_URL to a node of the network';

/**
 * What the operator should know about how payments settle, shown at the start and in /healthz; none of it stops the
 * service.
 */
export function settlementWarnings(config: Config): readonly string[] {
  const settlement = settlementOf(config);
  if (settlement === 'test') return [TEST_WARNING];
  return config.rpcUrl === null ? [NO_NODE] : [];
}
