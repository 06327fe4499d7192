import { type Config, settlementOf } from './config.ts';
import { TEST_WARNING } from './test-payments.ts';

const NO_NODE =
  'No chain node is asked: when the answer to a settlement is lost, nobody can tell whether the buyer was charged, who ' +
  'may then pay for nothing; set SIGNALPRESS_RPC_URL to a node of the network';

/** What the operator should know about the way of settling, at the start and in /healthz; it keeps nothing from working. */
export function settlementWarnings(config: Config): readonly string[] {
  const settlement = settlementOf(config);
  if (settlement === 'test') return [TEST_WARNING];
  return config.rpcUrl === null ? [NO_NODE] : [];
}
