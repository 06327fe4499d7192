import { isAbsolute, relative, sep } from 'node:path';
import { confirmationsMax, depthMs, type Network } from '../settle/networks.ts';
import { isLoopback } from '../wire/listen.ts';
import { type Config, paidNetworks, testPaymentsFault } from './config.ts';
import {
  addressText,
  dataUrl,
  envName,
  isRemote,
  misfit,
  SETTINGS,
  type SettingName,
  TEST_PAYEE,
} from './settings.ts';

/** What was written and what of it could be read. */
interface Written {
  readonly values: Partial<Record<SettingName, unknown>>;
  /** Whether anything was written, valid or not, so that each fault is reported once. */
  readonly isGiven: (name: SettingName) => boolean;
}

interface Given extends Config, Written {
  readonly networks: readonly Network[];
  /** Networks that are known; of any other one, neither its contract nor its money is. */
  readonly known: readonly Network[];
  /** One whose money is worth something, and one whose money is not. */
  readonly real: Network | undefined;
  readonly test: Network | undefined;
  /** Whether somebody moves money, and whether it should move. */
  readonly settles: boolean;
  readonly moves: boolean;
  /** Whether the data comes from another machine, and whether it does so over plain http. */
  readonly remote: boolean;
  readonly plain: boolean;
  readonly metricsAt: string;
}

/** The fault: its setting, what is wrong, and what to do; anything else for none. */
type Row = (given: Given) => string | false | null | undefined;

/** Nobody holds the key of these addresses: money paid to them is lost. */
const NOBODYS = [`0x${'0'.repeat(40)}`, TEST_PAYEE.toLowerCase()];

/** Settings that exclude each other or need each other, in the order in which their faults are told. */
const ROWS: readonly Row[] = [
  // Who settles.
  ({ isGiven }) =>
    isGiven('facilitator_url') &&
    isGiven('relayer_key') &&
    'RELAYER_KEY: set together with SIGNALPRESS_FACILITATOR_URL; set only one of them',
  ({ workers, isGiven }) =>
    workers > 1 &&
    isGiven('relayer_key') &&
    'WORKERS: several processes cannot send from one account; leave it out, or set SIGNALPRESS_FACILITATOR_URL instead of SIGNALPRESS_RELAYER_KEY',
  ({ isGiven }) =>
    !isGiven('rpc_url') &&
    isGiven('relayer_key') &&
    `RPC_URL: missing, but a relayer key needs it; set ${SETTINGS.rpc_url.help}`,
  ({ facilitatorUrls, isGiven }) =>
    !isGiven('rpc_url') &&
    facilitatorUrls.length > 1 &&
    `RPC_URL: missing, but several facilitators need it, so that each knows what the others did; set ${SETTINGS.rpc_url.help}`,
  ({ facilitatorUrls, isGiven }) =>
    facilitatorUrls.length > 1 &&
    isGiven('facilitator_auth') &&
    'FACILITATOR_AUTH: one secret cannot serve several facilitators; set SIGNALPRESS_FACILITATOR_AUTH_MODULE instead',
  ({ isGiven }) =>
    isGiven('facilitator_auth') &&
    isGiven('facilitator_auth_module') &&
    'FACILITATOR_AUTH: set together with SIGNALPRESS_FACILITATOR_AUTH_MODULE; set only one of them',
  // What has no effect without another one would silently not happen.
  needs('facilitator_auth', 'facilitator_url'),
  needs('facilitator_auth_module', 'facilitator_url'),
  needs('rpc_url', 'facilitator_url', 'relayer_key'),
  needs('confirmations', 'rpc_url'),
  needs('max_fee_gwei', 'relayer_key'),
  // Where others can buy, payments are simulated only on request.
  (given) => !given.moves && testPaymentsFault(given)?.slice(envName('').length),
  ({ settles, testPayments }) =>
    settles &&
    testPayments &&
    'TEST_PAYMENTS: set together with a facilitator or a relayer key; leave it out to be paid',
  // Money needs somebody who is paid and somebody who moves it.
  ({ moves, isGiven }) =>
    moves &&
    !isGiven('pay_to') &&
    `PAY_TO: missing, but money moves here; set ${SETTINGS.pay_to.help}`,
  ({ moves, values, networks, tokens }) => {
    const contracts = [...networks, ...tokens].map(({ asset }) => asset.toLowerCase());
    const isNobodys = [...NOBODYS, ...contracts].includes(String(values.pay_to).toLowerCase());
    const why = 'nobody holds the key of this address; set one of your own';
    return moves && isNobodys && `PAY_TO "${values.pay_to}": ${why}`;
  },
  ({ settles, real }) =>
    !settles &&
    real &&
    `FACILITATOR_URL: missing for network "${real.name}", where money is real; set an https URL, or set SIGNALPRESS_RELAYER_KEY`,
  // Networks and what belongs to each.
  ({ real, test }) =>
    real &&
    test &&
    `NETWORK: money of "${test.name}" is worth nothing and would buy what "${real.name}" sells; set networks of one kind`,
  perNetwork('rpc_url', 'https://…'),
  perNetwork('max_fee_gwei', '2'),
  ({ tokens, known }) => {
    const stray = tokens.find((token) => known.every(({ name }) => name !== token.name));
    const remedy = 'name it there, or leave the token out';
    return (
      known.length > 0 &&
      stray &&
      `TOKENS: ${stray.asset} is on "${stray.name}", which SIGNALPRESS_NETWORK does not name; ${remedy}`
    );
  },
  // A buyer who is kept waiting for longer hears of a timeout after the money has moved.
  ({ confirmations: blocks, known }) => {
    const network = known.find((one) => blocks > confirmationsMax(one));
    if (network === undefined) return null;
    const seconds = depthMs(network, blocks) / 1000;
    const max = Math.min(...known.map(confirmationsMax));
    return `CONFIRMATIONS "${blocks}": takes ${seconds} s on ${network.name}, longer than a buyer can wait; set at most ${max}`;
  },
  // Where the data comes from.
  onlyRemote('data_auth'),
  onlyRemote('data_http'),
  onlyRemote('cache_mb'),
  ({ remote, isGiven }) =>
    remote &&
    !isGiven('issuer_did') &&
    `ISSUER_DID: missing, but the host of SIGNALPRESS_DATA is not trusted to name the issuer; set ${SETTINGS.issuer_did.help}`,
  ({ plain, values }) =>
    plain &&
    values.data_http !== true &&
    'DATA: not https, so anyone on the way can keep new releases back; set an https URL, or SIGNALPRESS_DATA_HTTP=1 to accept that',
  ({ plain, isGiven }) =>
    plain &&
    isGiven('data_auth') &&
    'DATA_AUTH: would be sent over plain http; set an https URL, or leave it out',
  // The compiler clears what it keeps in its folder: it would take the payment journal with it.
  ({ dataDir, stateDir }) => {
    const way = relative(dataDir, stateDir);
    if (way.split(sep)[0] === '..' || isAbsolute(way)) return null;
    return `STATE "${stateDir}": inside SIGNALPRESS_DATA "${dataDir}", which belongs to the compiler; set a folder beside it`;
  },
  // What is sold and how well is nobody else's to read.
  ({ metrics, workers }) =>
    metrics?.address === null &&
    workers > 1 &&
    'METRICS_TOKEN: /metrics of the service would show another worker each time; set SIGNALPRESS_METRICS to an address',
  ({ metrics, metricsAt }) =>
    metrics?.address &&
    metrics.token === null &&
    !isLoopback(metrics.address.host) &&
    `${metricsAt}: others can reach this address; set 127.0.0.1 as its host, or set SIGNALPRESS_METRICS_TOKEN`,
  ({ host, port, workers, metrics, metricsAt }) => {
    const own = metrics?.address;
    if (own == null || own.port === 0 || own.host !== host) return null;
    const isTaken = port >= own.port && port < own.port + workers;
    const remedy = 'set another port, or only SIGNALPRESS_METRICS_TOKEN for /metrics there';
    return isTaken && `${metricsAt}: the address of the service; ${remedy}`;
  },
  ({ metrics, metricsAt, workers }) =>
    (metrics?.address?.port ?? 0) + workers - 1 > 65_535 &&
    `${metricsAt}: no port is left for each of ${workers} workers; set a lower one`,
];

export function jointFaults(config: Config, written: Written): string[] {
  const { dataDir, metrics } = config;
  const { values, isGiven } = written;
  const networks = paidNetworks(config).map(({ network }) => network);
  const real = networks.find(({ isTestnet }) => !isTestnet);
  const settles = isGiven('facilitator_url') || isGiven('relayer_key');
  const host = isRemote(dataDir) ? dataUrl(dataDir) : null;
  const given: Given = {
    ...config,
    ...written,
    networks,
    known: values.network !== undefined || !isGiven('network') ? networks : [],
    real,
    test: networks.find(({ isTestnet }) => isTestnet),
    settles,
    moves: settles || real !== undefined,
    remote: host !== null,
    plain: host?.protocol === 'http:' && !isLoopback(host.hostname),
    metricsAt: metrics?.address == null ? '' : `METRICS "${addressText(metrics.address)}"`,
  };
  return ROWS.flatMap((row) => {
    const fault = row(given);
    return typeof fault === 'string' ? [envName('') + fault] : [];
  });
}

function needs(name: SettingName, ...needed: SettingName[]): Row {
  const others = needed.map(envName).join(' or ');
  return ({ values, isGiven }) =>
    values[name] !== undefined &&
    !needed.some(isGiven) &&
    `${name.toUpperCase()}: has no effect without ${others}; set ${others}, or leave it out`;
}

function perNetwork(name: 'rpc_url' | 'max_fee_gwei', example: string): Row {
  return ({ known, values }) => {
    const text = values[name];
    const why = typeof text === 'string' && known.length > 0 ? misfit(known, text) : null;
    const write =
      known.length === 1
        ? SETTINGS[name].help
        : known.map(({ name: of }) => `${of}=${example}`).join(',');
    return why !== null && `${name.toUpperCase()}: ${why}; set ${write}`;
  };
}

function onlyRemote(name: SettingName): Row {
  return ({ remote, values, isGiven }) =>
    !remote &&
    values[name] !== undefined &&
    (values.data !== undefined || !isGiven('data')) &&
    `${name.toUpperCase()}: has no effect, because SIGNALPRESS_DATA is a folder of this machine; set it to a URL, or leave ${envName(name)} out`;
}
