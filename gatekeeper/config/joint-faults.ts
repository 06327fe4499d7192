import { isAbsolute, relative, sep } from 'node:path';
import { OFFER_RECEIPT } from '../money/extensions.ts';
import { confirmationsMax, depthMs, type Network } from '../money/networks.ts';
import { isLoopback } from '../system/loopback.ts';
import { type Config, paidNetworks } from './config.ts';
import { dataUrl, isRemote } from './data-url.ts';
import { addressText } from './metrics-settings.ts';
import { misfit, spelling } from './per-network.ts';
import { envName, SETTINGS, type SettingName, TEST_PAYEE } from './settings.ts';
import { testPaymentsFault } from './test-payments.ts';

/** What was written and what of it could be read. */
interface WrittenSettings {
  readonly values: Partial<Record<SettingName, unknown>>;
  /** Whether anything was written, valid or not, so that each fault is reported once. */
  readonly isGiven: (name: SettingName) => boolean;
}

/** A fault of null is none. */
type Rule = readonly [applies: boolean, fault: string | null];

/** Faults of settings that only make sense together. */
export function jointFaults(effective: Config, written: WrittenSettings): string[] {
  const rules = [
    ...settlerRules(effective, written),
    ...halfRules(written),
    ...testRules(effective, written),
    ...payeeRules(effective, written),
    ...networkRules(effective, written),
    ...tokenRules(effective, written),
    ...remoteRules(effective, written),
  ];
  const others = [
    ...depthRules(effective, written),
    ...offerReceiptRules(effective),
    assetRule(effective, written),
    folderRule(effective),
  ];
  return [...rules, ...others, ...metricsRules(effective)].flatMap(([applies, fault]) =>
    applies && fault !== null ? [fault] : [],
  );
}

/** Whether the network is one we know; for any other, its contract and its money are unknown. */
function isNetworkKnown({ values, isGiven }: WrittenSettings): boolean {
  return values.network !== undefined || !isGiven('network');
}

function networksOf(effective: Config): readonly Network[] {
  return paidNetworks(effective).map(({ network }) => network);
}

function realNetwork(effective: Config): Network | undefined {
  return networksOf(effective).find(({ isTestnet }) => !isTestnet);
}

/** Each network has a node and a price of gas of its own, and its money must be worth what that of the others is. */
function networkRules(effective: Config, written: WrittenSettings): Rule[] {
  const networks = networksOf(effective);
  const [real, test] = [realNetwork(effective), networks.find(({ isTestnet }) => isTestnet)];
  const perNetwork = (['rpc_url', 'max_fee_gwei'] as const).map((name): Rule => {
    const { [name]: text } = written.values;
    const why = typeof text === 'string' ? misfit(networks, text) : null;
    const example = spelling(networks, name === 'rpc_url' ? 'https://…' : '2');
    const write = networks.length === 1 ? SETTINGS[name].help : example;
    return [isNetworkKnown(written) && why !== null, `${envName(name)}: ${why}; set ${write}`];
  });
  return [
    [
      real !== undefined && test !== undefined,
      `SIGNALPRESS_NETWORK: money of "${test?.name}" is worth nothing and would buy what "${real?.name}" sells; set networks of one kind`,
    ],
    ...perNetwork,
  ];
}

/** A further token is on a network that is offered, so that somebody settles it there. */
function tokenRules(effective: Config, written: WrittenSettings): Rule[] {
  const names = networksOf(effective).map(({ name }) => name);
  return effective.tokens.map(({ name, asset }) => [
    isNetworkKnown(written) && !names.includes(name),
    `SIGNALPRESS_TOKENS: ${asset} is on "${name}", which SIGNALPRESS_NETWORK does not name; name it there, or leave the token out`,
  ]);
}

/** Nobody holds the key of these addresses: money paid to them is lost. */
const NOBODYS = [`0x${'0'.repeat(40)}`, TEST_PAYEE.toLowerCase()];

/** Money needs somebody who is paid and somebody who moves it. */
function payeeRules(effective: Config, { values, isGiven }: WrittenSettings): Rule[] {
  const payTo = String(values.pay_to).toLowerCase();
  const all = [...networksOf(effective), ...effective.tokens];
  const tokens = all.map(({ asset }) => asset.toLowerCase());
  const isNobodys = [...NOBODYS, ...tokens].includes(payTo);
  const settles = isGiven('facilitator_url') || isGiven('relayer_key');
  const real = realNetwork(effective);
  const isReal = real !== undefined;
  const settler = 'set an https URL, or set SIGNALPRESS_RELAYER_KEY';
  return [
    [
      (settles || isReal) && !isGiven('pay_to'),
      `SIGNALPRESS_PAY_TO: missing, but money moves here; set ${SETTINGS.pay_to.help}`,
    ],
    [
      (settles || isReal) && isNobodys,
      `SIGNALPRESS_PAY_TO "${values.pay_to}": nobody holds the key of this address; set one of your own`,
    ],
    [
      !settles && isReal,
      `SIGNALPRESS_FACILITATOR_URL: missing for network "${real?.name}", where money is real; ${settler}`,
    ],
  ];
}

function settlerRules({ facilitatorUrls, workers }: Config, { isGiven }: WrittenSettings): Rule[] {
  const many = facilitatorUrls.length > 1;
  const hasNode = isGiven('rpc_url');
  return [
    [
      isGiven('facilitator_url') && isGiven('relayer_key'),
      'SIGNALPRESS_RELAYER_KEY: set together with SIGNALPRESS_FACILITATOR_URL; set only one of them',
    ],
    [
      workers > 1 && isGiven('relayer_key'),
      'SIGNALPRESS_WORKERS: several processes cannot send from one account; leave it out, or set SIGNALPRESS_FACILITATOR_URL instead of SIGNALPRESS_RELAYER_KEY',
    ],
    [
      !hasNode && isGiven('relayer_key'),
      `SIGNALPRESS_RPC_URL: missing, but a relayer key needs it; set ${SETTINGS.rpc_url.help}`,
    ],
    [
      !hasNode && many,
      `SIGNALPRESS_RPC_URL: missing, but several facilitators need it, so that each knows what the others did; set ${SETTINGS.rpc_url.help}`,
    ],
    [
      many && isGiven('facilitator_auth'),
      'SIGNALPRESS_FACILITATOR_AUTH: one secret cannot serve several facilitators; set SIGNALPRESS_FACILITATOR_AUTH_MODULE instead',
    ],
    [
      isGiven('facilitator_auth') && isGiven('facilitator_auth_module'),
      'SIGNALPRESS_FACILITATOR_AUTH: set together with SIGNALPRESS_FACILITATOR_AUTH_MODULE; set only one of them',
    ],
  ];
}

/** Settings that have no effect without another one: what they were meant for would silently not happen. */
const HALVES: readonly (readonly [name: SettingName, needed: readonly SettingName[]])[] = [
  ['facilitator_auth', ['facilitator_url']],
  ['facilitator_auth_module', ['facilitator_url']],
  ['rpc_url', ['facilitator_url', 'relayer_key']],
  ['confirmations', ['rpc_url']],
  ['max_fee_gwei', ['relayer_key']],
];

function halfRules({ values, isGiven }: WrittenSettings): Rule[] {
  return HALVES.map(([name, needed]) => {
    const others = needed.map(envName).join(' or ');
    return [
      values[name] !== undefined && !needed.some(isGiven),
      `${envName(name)}: has no effect without ${others}; set ${others}, or leave it out`,
    ];
  });
}

/** An extension that signs needs its key, and the key is of no use without it. */
function offerReceiptRules({ extensions, offerReceiptKey }: Config): Rule[] {
  const isOn = extensions.includes(OFFER_RECEIPT);
  const isGiven = offerReceiptKey !== null;
  return [
    [
      isOn && !isGiven,
      `SIGNALPRESS_OFFER_RECEIPT_KEY: missing, but "${OFFER_RECEIPT}" signs; set ${SETTINGS.offer_receipt_key.help}`,
    ],
    [
      isGiven && !isOn,
      `SIGNALPRESS_OFFER_RECEIPT_KEY: has no effect without "${OFFER_RECEIPT}" in SIGNALPRESS_EXTENSIONS; name it there, or leave the key out`,
    ],
  ];
}

/** If others can buy, payments are simulated only on request. */
function testRules(effective: Config, { isGiven }: WrittenSettings): Rule[] {
  const settles = isGiven('facilitator_url') || isGiven('relayer_key');
  return [
    [!settles && realNetwork(effective) === undefined, testPaymentsFault(effective)],
    [
      settles && effective.testPayments,
      'SIGNALPRESS_TEST_PAYMENTS: set together with a facilitator or a relayer key; leave it out to be paid',
    ],
  ];
}

/** The compiler clears what it keeps there: it would take the payment journal with it. */
function folderRule({ dataDir, stateDir }: Config): Rule {
  const way = relative(dataDir, stateDir);
  const isInside = way.split(sep)[0] !== '..' && !isAbsolute(way);
  return [
    isInside,
    `SIGNALPRESS_STATE "${stateDir}": inside SIGNALPRESS_DATA "${dataDir}", which belongs to the compiler; set a folder beside it`,
  ];
}

/** What is sold and how well is nobody else's to read. */
function metricsRules({ host, port, metrics, workers }: Config): Rule[] {
  const { address = null, token = null } = metrics ?? {};
  if (address === null) {
    const fault =
      'SIGNALPRESS_METRICS_TOKEN: /metrics of the service would show another worker each time; set SIGNALPRESS_METRICS to an address';
    return [[metrics !== null && workers > 1, fault]];
  }
  const shown = `SIGNALPRESS_METRICS "${addressText(address)}"`;
  const isInRange = port >= address.port && port < address.port + workers;
  const isTaken = address.port !== 0 && address.host === host && isInRange;
  return [
    [
      token === null && !isLoopback(address.host),
      `${shown}: others can reach this address; set 127.0.0.1 as its host, or set SIGNALPRESS_METRICS_TOKEN`,
    ],
    [
      isTaken,
      `${shown}: the address of the service; set another port, or only SIGNALPRESS_METRICS_TOKEN for /metrics there`,
    ],
    [
      address.port + workers - 1 > 65_535,
      `${shown}: no port is left for each of ${workers} workers; set a lower one`,
    ],
  ];
}

/** A buyer who is kept waiting for longer hears of a timeout after the money has moved. */
function depthRules(effective: Config, written: WrittenSettings): Rule[] {
  const { confirmations } = effective;
  return networksOf(effective).map((network) => {
    const [max, seconds] = [confirmationsMax(network), depthMs(network, confirmations) / 1000];
    return [
      isNetworkKnown(written) && confirmations > max,
      `SIGNALPRESS_CONFIRMATIONS "${confirmations}": takes ${seconds} s on ${network.name}, longer than a buyer can wait; set at most ${max}`,
    ];
  });
}

function assetRule(effective: Config, written: WrittenSettings): Rule {
  const { network, furtherNetworks } = effective;
  const { asset } = written.values;
  const isOther = typeof asset === 'string' && asset.toLowerCase() !== network.asset.toLowerCase();
  if (furtherNetworks.length > 0) {
    const fault = 'each of the networks has its own USDC contract; leave it out';
    return [asset !== undefined, `SIGNALPRESS_ASSET "${asset}": ${fault}`];
  }
  return [
    isNetworkKnown(written) && isOther,
    `SIGNALPRESS_ASSET "${asset}": not the USDC contract of ${network.name}; set ${network.asset} or leave it out`,
  ];
}

/** Settings that only matter where a host serves the data. */
const REMOTE_ONLY: readonly SettingName[] = ['data_auth', 'data_http', 'cache', 'cache_mb'];

/** Faults of settings about data that a host serves. */
function remoteRules({ dataDir }: Config, { values, isGiven }: WrittenSettings): Rule[] {
  if (!isRemote(dataDir)) {
    return REMOTE_ONLY.map((name) => [
      values[name] !== undefined && (values.data !== undefined || !isGiven('data')),
      `${envName(name)}: has no effect, because SIGNALPRESS_DATA is a folder of this machine; set it to a URL, or leave ${envName(name)} out`,
    ]);
  }
  const { protocol, hostname } = dataUrl(dataDir);
  const isOpen = protocol === 'http:' && !isLoopback(hostname);
  return [
    [
      !isGiven('issuer_did'),
      `SIGNALPRESS_ISSUER_DID: missing, but the host of SIGNALPRESS_DATA is not trusted to name the issuer; set ${SETTINGS.issuer_did.help}`,
    ],
    [
      isOpen && values.data_http !== true,
      'SIGNALPRESS_DATA: not https, so anyone on the way can keep new releases back; set an https URL, or SIGNALPRESS_DATA_HTTP=1 to accept that',
    ],
    [
      isOpen && isGiven('data_auth'),
      'SIGNALPRESS_DATA_AUTH: would be sent over plain http; set an https URL, or leave it out',
    ],
  ];
}
