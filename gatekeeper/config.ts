import { z } from 'zod';
import { parseDidKey } from '../compiler/contract/did-key.ts';
import { facilitatorUrl, remoteUrl } from './facilitator/remote-url.ts';
import { trustedProxies } from './http/client-address.ts';
import { messageOf } from './message-of.ts';
import { nearest } from './offer/nearest.ts';
import { payeeAddress } from './offer/payee-address.ts';
import { findNetwork, type Network } from './payment/networks.ts';
import { TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX, tokenSecrets } from './payment/token.ts';
import { StartError } from './start-error.ts';

/** Who is "paid" while the local facilitator is on: plainly nobody. */
export const TEST_PAYEE = '0x000000000000000000000000000000000000dEaD';

/** Cap on gas where none is set: on Base a hundred times what is usual. */
const MAX_FEE_GWEI = '2';

const STATE_DIR = '.signalpress';

/** The file beside the working directory that settings may stand in. */
export const CONFIG_NAME = 'signalpress.config.json';

/** Where settings come from, the first that has one wins. */
export interface ConfigSources {
  /** Command-line options by setting name: `{ port: '8080' }`. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of CONFIG_NAME, null when there is none. */
  readonly fileText: string | null;
}

/** Everything that a gatekeeper is told; null where the operator said nothing. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
  readonly payTo: string;
  readonly network: Network;
  /** In order of preference; with none and no relayer key the local test facilitator moves no money. */
  readonly facilitatorUrls: readonly string[];
  /** One header of every call to the facilitator, `Name: value`. */
  readonly facilitatorAuth: string | null;
  /** Path of a module that makes the headers of each call. */
  readonly facilitatorAuthModule: string | null;
  readonly rpcUrl: string | null;
  /** Blocks that must hold a transfer before it counts. */
  readonly confirmations: number;
  /** Key, or path of the key file, of the account that settles without a facilitator. */
  readonly relayerKey: string | null;
  /** Most that a relayed transaction pays for one unit of gas. */
  readonly maxFeeGwei: string;
  readonly dataDir: string;
  readonly stateDir: string;
  /** Signs subscription tokens; after a comma an older one that is still accepted. */
  readonly tokenSecret: string | null;
  /** Days that a token opens the watchlist. */
  readonly tokenDays: number;
  /** did:key of the processor whose receipts are taken in place of payments. */
  readonly receiptKey: string | null;
  readonly issuerDid: string | null;
  /** Requests a second and client; 0 for no limit. */
  readonly rateLimit: number;
  /** Proxies whose X-Forwarded-For is believed: addresses and ranges, separated by commas. */
  readonly trustedProxy: string;
  /** The facilitator is asked to settle without being asked to verify first. */
  readonly settleOnly: boolean;
}

/** Whether a setting means something to the one who reads it later. */
const fits =
  (read: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
const url = z.url({ protocol: /^https?$/, error: 'not an http(s) URL' });
const origin = url.refine((text) => !/[/?#]$|[?#]/.test(text), 'ends with "/" or has a query');
const processor = z.string().refine(fits(parseDidKey), 'not an Ed25519 did:key');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'not an address of 40 hex digits');
const payee = address.refine(fits(payeeAddress), 'checksum does not match; copy it again');
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'not a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `not between ${min} and ${max}`);

/** What is wrong with a URL is said without what a path or query may hold: a key. */
const usable =
  (read: (text: string) => URL) =>
  (text: string, context: z.RefinementCtx): void => {
    try {
      read(text);
    } catch (error) {
      context.addIssue(messageOf(error));
    }
  };
const facilitator = url.superRefine(usable(facilitatorUrl));

const node = url.superRefine(usable((text) => remoteUrl(text, 'chain node')));

/** `Name: value`, which cannot become two headers. */
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x20-\x7e]*\s*$/;

/** URLs between commas, each of them checked. */
const facilitators = z
  .string()
  .transform((list) => list.split(',').map((one) => one.trim()))
  .pipe(z.array(facilitator));

/** Settings by name with what to set; the environment spells them SIGNALPRESS_<NAME>. */
const SETTINGS = {
  host: { schema: z.string().min(1), help: 'address to listen on, for example 127.0.0.1' },
  port: { schema: integer(0, 65_535), help: 'TCP port, for example 4021' },
  base_url: { schema: origin, help: 'public address, for example https://api.example.com' },
  pay_to: { schema: payee, help: 'address that is paid, 0x and 40 hex digits' },
  network: {
    schema: z.string().refine((name) => findNetwork(name) !== undefined, 'not a known network'),
    help: 'base or base-sepolia',
  },
  asset: { schema: address, help: 'leave it out: only the USDC contract of the network is served' },
  facilitator_url: {
    schema: facilitators,
    help: 'https URL, or several in order of preference with commas between them, or leave it out for the local test facilitator',
  },
  facilitator_auth: {
    schema: z.string().regex(HEADER, 'not one header'),
    help: 'one header, "Authorization: Bearer …"',
  },
  facilitator_auth_module: {
    schema: z.string(),
    help: 'path of a module that exports an async function authHeaders({ method, url })',
  },
  rpc_url: { schema: node, help: 'https URL of a node of the network' },
  confirmations: {
    schema: integer(1, 1000),
    help: 'blocks from 1, as soon as a transfer is mined',
  },
  relayer_key: {
    schema: z.string(),
    help: 'path of a key file of mode 600, or 64 hex digits, of an account that holds some gas money',
  },
  max_fee_gwei: {
    schema: z.string().regex(/^[0-9]{1,6}(\.[0-9]{1,9})?$/, 'not a decimal number'),
    help: 'most gwei for one unit of gas, for example 2',
  },
  data: { schema: z.string().min(1), help: 'folder that holds "current", for example dist-data' },
  state: { schema: z.string().min(1), help: 'folder of the payment journal' },
  token_secret: {
    schema: z.string().refine(fits(tokenSecrets), 'not one or two texts of at least 32 characters'),
    help: 'random text; while it changes, new,old',
  },
  receipt_key: { schema: processor, help: 'the did:key:z6Mk… of your payment processor' },
  token_days: { schema: integer(1, TOKEN_DAYS_MAX), help: 'days that a token is valid' },
  issuer_did: {
    schema: z.string().regex(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/, 'not an Ed25519 did:key'),
    help: 'the did:key:z6Mk… whose releases are served',
  },
  rate_limit: { schema: integer(0, 1_000_000), help: 'requests a second and client, 0 for none' },
  trusted_proxy: {
    schema: z.string().refine(fits(trustedProxies), 'not a list of addresses'),
    help: 'addresses or ranges of your own proxies, for example 10.0.0.1,192.168.0.0/16',
  },
  verify: {
    schema: z.enum(['always', 'settle-only'], { error: 'not a way to verify' }),
    help: 'always, or settle-only to spare the call of /verify',
  },
} as const;
type Name = keyof typeof SETTINGS;

/** Settings of the compiler that share the file and the environment; they are not read here. */
const FOREIGN = ['issuer_key', 'issuer_name', 'contact'];

/** Values that do not go into an error. */
const SECRET: readonly string[] = [
  'token_secret',
  'facilitator_auth',
  'facilitator_url',
  'relayer_key',
  'rpc_url',
];

/** Settings that are no command-line options: process lists show those. */
const NO_OPTION: readonly string[] = ['token_secret', 'facilitator_auth', 'relayer_key'];

/** Every setting, spelt as in the file beside the working directory. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);
/** Settings that the command line takes, with hyphens there. */
export const OPTION_NAMES = SETTING_NAMES.filter((name) => !NO_OPTION.includes(name));

/** Reads all settings; throws one StartError that names every problem and what to set instead. */
export function loadConfig(sources: ConfigSources): Config {
  const problems: string[] = [];
  const texts = givenTexts(sources, problems);
  const values: Partial<Record<Name, unknown>> = {};
  for (const [name, text] of texts) values[name] = checked(name, text, problems);
  const config = configOf(values);
  problems.push(...joint(config, { values, isGiven: (name) => texts.has(name) }));
  if (problems.length === 0) return config;
  // Next to a problem a misspelt name is the likely cause of it.
  problems.push(...strangeVariables(sources.env).map(strangeText));
  return refuse(problems);
}

/** The journal's folder, for programs that need no other setting. */
export function loadStateDir(sources: ConfigSources): string {
  const problems: string[] = [];
  const text = givenTexts(sources, problems).get('state');
  return problems.length === 0 ? (text ?? STATE_DIR) : refuse(problems);
}

function refuse(problems: readonly string[]): never {
  throw new StartError(
    `Cannot start: ${problems.length} setting${problems.length === 1 ? '' : 's'} to correct\n` +
      problems.map((problem) => `  ${problem}`).join('\n'),
  );
}

/** What the operator wrote, by setting; an empty text is none. */
function givenTexts(sources: ConfigSources, problems: string[]): ReadonlyMap<Name, string> {
  const file = fileSettings(sources.fileText, problems);
  return new Map(
    (Object.keys(SETTINGS) as Name[]).flatMap((name) => {
      const text = sources.options[name] ?? sources.env[envName(name)] ?? file[name] ?? '';
      return text === '' ? [] : [[name, text] as const];
    }),
  );
}

/** The environment variable of a setting. */
export function envName(name: string): string {
  return `SIGNALPRESS_${name.toUpperCase()}`;
}

/** Variables that look like settings and are none: most likely misspelt. */
export function strangeVariables(env: ConfigSources['env']): string[] {
  const known = new Set([...SETTING_NAMES, ...FOREIGN].map(envName));
  return Object.keys(env).filter((name) => name.startsWith(envName('')) && !known.has(name));
}

/** Tells of such a variable what it may have been meant for. */
export function strangeText(variable: string): string {
  const meant = nearest(variable.slice(envName('').length), SETTING_NAMES);
  const hint = meant === null ? 'correct its name' : `did you mean ${envName(meant)}?`;
  return `"${variable}" is no setting and is not read; ${hint}`;
}

function fileSettings(text: string | null, problems: string[]): Record<string, string | undefined> {
  if (text === null) return {};
  const known = z.record(z.string(), z.union([z.string(), z.number().transform(String)]));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    problems.push(`${CONFIG_NAME}: not JSON; write one object of settings`);
    return {};
  }
  const parsed = known.safeParse(json);
  if (!parsed.success) {
    problems.push(`${CONFIG_NAME}: not an object of texts and numbers; write {"port": 4021}`);
    return {};
  }
  for (const name of Object.keys(parsed.data)) {
    if (name in SETTINGS || FOREIGN.includes(name)) continue;
    const legal = SETTING_NAMES.join(', ');
    problems.push(`${CONFIG_NAME}: "${name}" is no setting; use one of ${legal}`);
  }
  return parsed.data;
}

function checked(name: Name, text: string, problems: string[]): unknown {
  const { schema, help } = SETTINGS[name];
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? 'malformed';
  const shown = SECRET.includes(name) ? '' : ` "${text.slice(0, 80)}"`;
  const remedy = help.startsWith('leave') ? help : `set ${help}`;
  problems.push(`${envName(name)}${shown}: ${why}; ${remedy}`);
  return undefined;
}

function configOf(values: Partial<Record<Name, unknown>>): Config {
  const text = (name: Name): string | null => {
    const value = values[name];
    return typeof value === 'string' ? value : null;
  };
  const whole = (name: Name, otherwise: number): number => {
    const value = values[name];
    return typeof value === 'number' ? value : otherwise;
  };
  const list = values.facilitator_url;
  const network = findNetwork(text('network') ?? 'base-sepolia');
  if (network === undefined) throw new RangeError('Cannot read settings: network not checked');
  return {
    host: text('host') ?? '127.0.0.1',
    port: whole('port', 4021),
    baseUrl: text('base_url'),
    payTo: text('pay_to') ?? TEST_PAYEE,
    network,
    facilitatorUrls: Array.isArray(list) ? list.map(String) : [],
    facilitatorAuth: text('facilitator_auth'),
    facilitatorAuthModule: text('facilitator_auth_module'),
    rpcUrl: text('rpc_url'),
    confirmations: whole('confirmations', 1),
    relayerKey: text('relayer_key'),
    maxFeeGwei: text('max_fee_gwei') ?? MAX_FEE_GWEI,
    dataDir: text('data') ?? 'dist-data',
    stateDir: text('state') ?? STATE_DIR,
    tokenSecret: text('token_secret'),
    tokenDays: whole('token_days', TOKEN_DAYS_DEFAULT),
    receiptKey: text('receipt_key'),
    issuerDid: text('issuer_did'),
    rateLimit: whole('rate_limit', 0),
    trustedProxy: text('trusted_proxy') ?? '',
    settleOnly: text('verify') === 'settle-only',
  };
}

/** Who settles: with nobody named, payments are only pretended. */
export type Settlement = 'test' | 'facilitator' | 'relayer';

export function settlementOf({
  facilitatorUrls,
  relayerKey,
}: Pick<Config, 'facilitatorUrls' | 'relayerKey'>): Settlement {
  if (facilitatorUrls.length > 0) return 'facilitator';
  return relayerKey === null ? 'test' : 'relayer';
}

/** What was written and what of it could be read. */
interface Written {
  readonly values: Partial<Record<Name, unknown>>;
  /** Whether anything was written, right or wrong: a problem is told once. */
  readonly isGiven: (name: Name) => boolean;
}

type Rule = readonly [applies: boolean, problem: string];

/** Settings that only make sense together. */
function joint(config: Config, written: Written): string[] {
  const rules = [...settlerRules(config, written), ...payeeRules(config, written)];
  return [...rules, assetRule(config, written)].flatMap(([applies, problem]) =>
    applies ? [problem] : [],
  );
}

/** Whether the network is the one that was meant: of another nobody knows contract and money. */
function isNetworkKnown({ values, isGiven }: Written): boolean {
  return values.network !== undefined || !isGiven('network');
}

/** Money needs somebody who is paid and somebody who moves it. */
function payeeRules({ network }: Config, { isGiven }: Written): Rule[] {
  const settles = isGiven('facilitator_url') || isGiven('relayer_key');
  const isReal = network.name === 'base';
  const settler = 'set an https URL, or set SIGNALPRESS_RELAYER_KEY';
  return [
    [
      (settles || isReal) && !isGiven('pay_to'),
      `SIGNALPRESS_PAY_TO: missing where money moves; set ${SETTINGS.pay_to.help}`,
    ],
    [
      !settles && isReal,
      `SIGNALPRESS_FACILITATOR_URL: missing for network "base", where money is real; ${settler}`,
    ],
  ];
}

function settlerRules({ facilitatorUrls }: Config, { isGiven }: Written): Rule[] {
  const many = facilitatorUrls.length > 1;
  const hasNode = isGiven('rpc_url');
  return [
    [
      isGiven('facilitator_url') && isGiven('relayer_key'),
      'SIGNALPRESS_RELAYER_KEY: set beside SIGNALPRESS_FACILITATOR_URL; set the one that settles',
    ],
    [
      !hasNode && isGiven('relayer_key'),
      `SIGNALPRESS_RPC_URL: missing beside a relayer key; set ${SETTINGS.rpc_url.help}`,
    ],
    [
      !hasNode && many,
      `SIGNALPRESS_RPC_URL: missing beside several facilitators, which need to know what the others did; set ${SETTINGS.rpc_url.help}`,
    ],
    [
      many && isGiven('facilitator_auth'),
      'SIGNALPRESS_FACILITATOR_AUTH: one secret for several facilitators; set SIGNALPRESS_FACILITATOR_AUTH_MODULE',
    ],
    [
      isGiven('facilitator_auth') && isGiven('facilitator_auth_module'),
      'SIGNALPRESS_FACILITATOR_AUTH: set beside SIGNALPRESS_FACILITATOR_AUTH_MODULE; set one of them',
    ],
  ];
}

function assetRule({ network }: Config, written: Written): Rule {
  const { asset } = written.values;
  const isOther = typeof asset === 'string' && asset.toLowerCase() !== network.asset.toLowerCase();
  return [
    isNetworkKnown(written) && isOther,
    `SIGNALPRESS_ASSET "${asset}": not the USDC contract of ${network.name}; set ${network.asset} or leave it out`,
  ];
}
