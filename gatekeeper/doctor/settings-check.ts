import {
  paidNetworks,
  type SettlerKind,
  settlementOf,
  settlementWarnings,
} from '../config/config.ts';
import type { Examined } from './check.ts';
import { type Finding, ok, warning } from './finding.ts';

/** The settings could be read, or there would be nothing to examine; this says what they amount to. */
export async function settingsCheck({ config, ignored }: Examined): Promise<Finding[]> {
  const { payTo, host, port } = config;
  const networks = paidNetworks(config).map(({ network }) => network.name);
  const settlement = settlementOf(config);
  const paid =
    settlement === 'test' ? 'payments are simulated' : `${settlement} settles, paid to ${payTo}`;
  return [
    ok(`${host}:${port}, network ${networks.join(', ')}; ${paid}`),
    ...ignored.map((text) => warning(text, 'correct its name or remove it')),
    ...settlementWarnings(config).map((text) => warning(text, remedyOf(settlement))),
  ];
}

function remedyOf(settlement: SettlerKind): string {
  if (settlement !== 'test') return 'set SIGNALPRESS_RPC_URL to an https URL';
  return 'to be paid, set SIGNALPRESS_PAY_TO, _NETWORK, and _FACILITATOR_URL or _RELAYER_KEY';
}
