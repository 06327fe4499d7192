import { isIP } from 'node:net';
import { z } from 'zod';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { messageOf } from '../../compiler/format/errors.ts';
import { payeeAddress } from '../settle/address.ts';
import { facilitatorUrl, remoteUrl } from '../settle/facilitator.ts';
import {
  findNetwork,
  furtherTokens,
  NETWORKS,
  type Network,
  TOKEN_FORM,
} from '../settle/networks.ts';
import { TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX, tokenSecrets } from '../settle/token.ts';
import { trustedProxies } from '../wire/limits/client-address.ts';
import { LOGGED_REQUESTS } from '../wire/log/line-log.ts';

/** `Name: value`, which cannot become two headers; no value is what an empty variable leaves. */
export const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x21-\x7e][\x20-\x7e]*\s*$/;

/** Whether a data folder is served by a host: a folder of this machine has no scheme. */
export function isRemote(data: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(data);
}

/** The URL of a data folder; throws a RangeError that repeats nothing secret. */
export function dataUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new RangeError('not an http(s) URL');
  }
  const extra = url.username + url.password + url.search + url.hash;
  if (extra === '') return url;
  throw new RangeError(
    'has a user, password, query or fragment; put a key into SIGNALPRESS_DATA_AUTH',
  );
}

/** A name in front of a URL or a number; what follows `?` in a URL is never in front of one. */
const NAMED = /(?:^|,)\s*([a-z][a-z0-9-]*)=(?=https?:|[0-9])/g;

/** Reads `value`, for the only network (null), or `base=value,polygon=value` for several. */
function networkValues(text: string): { network: string | null; value: string }[] {
  const marks = [...text.matchAll(NAMED)];
  if (marks[0]?.index !== 0) return [{ network: null, value: text.trim() }];
  return marks.map((mark, at) => ({
    network: mark[1] ?? null,
    value: text.slice(mark.index + mark[0].length, marks[at + 1]?.index).trim(),
  }));
}

/** What such a setting says for a network; null where it says nothing. */
export function valueFor({ name }: Network, text: string | null): string | null {
  const values = text === null ? [] : networkValues(text);
  return values.find(({ network }) => network === null || network === name)?.value ?? null;
}

/** Why such a setting does not fit the networks; null where it does. */
export function misfit(networks: readonly Network[], text: string): string | null {
  const names = networks.map(({ name }) => name);
  const values = networkValues(text);
  const isPlain = values.some(({ network }) => network === null);
  if (isPlain) return names.length === 1 ? null : 'does not say for which network';
  const missing = names.find((name) => values.every(({ network }) => network !== name));
  if (missing !== undefined) return `says nothing for "${missing}"`;
  const extra = values.find(({ network }) => names.every((name) => name !== network));
  if (extra !== undefined) return `names "${extra.network}", which SIGNALPRESS_NETWORK does not`;
  return values.length === names.length ? null : 'names a network twice';
}

/** What can stand in a header and is long enough not to be guessed. */
export const METRICS_TOKEN = /^[A-Za-z0-9._~+/=-]{32,256}$/;

export interface MetricsSettings {
  /** An address of their own; null for /metrics at the address of the service. */
  readonly address: MetricsAddress | null;
  /** What a reader has to know; null on loopback alone. */
  readonly token: string | null;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Null where nobody asked for metrics. Either text must be valid. */
export function metricsSettings(
  address: string | null,
  token: string | null,
): MetricsSettings | null {
  if (address === null && token === null) return null;
  return { address: address === null ? null : metricsAddress(address), token };
}

/** Reads `127.0.0.1:9464`, `localhost:9464` or `[::1]:9464`; throws a RangeError for anything else. */
function metricsAddress(text: string): MetricsAddress {
  const [, inBrackets, plain = '', digits = ''] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const isName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host);
  const isHost = inBrackets === undefined ? isName : isIP(host) === 6;
  const port = Number(digits);
  if (!isHost || digits === '' || port > 65_535) {
    throw new RangeError(`Cannot read "${text}": not an address with a port`);
  }
  return { host, port };
}

/** Each of several processes has metrics of its own: the first at the port that is set, the next one port above it. */
export function metricsOfWorker(settings: MetricsSettings, place: number): MetricsSettings {
  const { address, token } = settings;
  if (address === null || address.port === 0) return settings;
  return { address: { ...address, port: address.port + place }, token };
}

/** As metricsAddress() reads it. */
export function addressText({ host, port }: MetricsAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Less would not hold one release. */
const CACHE_MB_MIN = 16;

/** The "payee" while the local facilitator is on: obviously nobody. */
export const TEST_PAYEE = '0x000000000000000000000000000000000000dEaD';

/**
 * What the reader of a setting finds wrong with it, or `words`. Those of URLs do not repeat a path or query, which may hold
 * a key.
 */
const usable =
  (read: (text: string) => unknown, words?: string) =>
  (text: string, context: z.RefinementCtx): void => {
    try {
      read(text);
    } catch (error) {
      context.addIssue(words ?? messageOf(error));
    }
  };
const url = z.url({ protocol: /^https?$/, error: 'not an http(s) URL' });
const URL_QUERY = /^([a-z]+:\/\/[^?#]*)\?.*/i;
const USER_INFO = /^([a-z]+:\/\/)[^/?#]*@/i;
const origin = url
  .refine((text) => !/[/?#]$|[?#]/.test(text), 'ends with "/" or has a query')
  .refine(
    (text) => !USER_INFO.test(text),
    'a user or password in it would appear in every challenge',
  );
const processor = z.string().superRefine(usable(parseDidKey, 'not an Ed25519 did:key'));
const payee = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'not an address of 40 hex digits')
  .superRefine(usable(payeeAddress, 'checksum does not match; copy it again'));
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'not a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `not between ${min} and ${max}`);

const facilitator = url.superRefine(usable(facilitatorUrl));
const perNetwork = (one: z.ZodType<string, string>) =>
  z.string().superRefine((text, context) => {
    for (const { network, value } of networkValues(text)) {
      if (network !== null && findNetwork(network) === undefined) {
        const comma = `if it is part of a URL, write the comma before "${network}=" as %2C`;
        context.addIssue(`"${network}" is not a known network; ${comma}`);
      }
      for (const { message } of one.safeParse(value).error?.issues ?? []) context.addIssue(message);
    }
  });
const node = perNetwork(url.superRefine(usable((text) => remoteUrl(text, 'chain node'))));
const networks = z.string().superRefine((text, context) => {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => findNetwork(name) === undefined))
    context.addIssue('not a known network');
  const chains = new Set(names.map((name) => findNetwork(name)));
  if (chains.size < names.length) context.addIssue('names a network twice');
});

/** What is wrong with the place of a journal, without repeating it: it holds a password. */
function usableJournal(text: string, context: z.RefinementCtx): void {
  if (text === 'sqlite') return;
  const isUrl = isPostgresUrl(text) && URL.canParse(text);
  if (!isUrl) context.addIssue('neither sqlite nor a postgres:// URL');
  else if (new URL(text).pathname.length < 2) context.addIssue('names no database');
}

const facilitators = z
  .string()
  .transform((list) => list.split(',').map((one) => one.trim()))
  .pipe(z.array(facilitator));

interface Setting {
  readonly schema: z.ZodType<unknown, string>;
  /** What to set, and what it does. */
  readonly help: string;
  /** What holds if nothing is set. */
  readonly preset?: string;
}

/**
 * Settings by name; the environment spells them SIGNALPRESS_<NAME>. `--help` and the table of `gatekeeper/SETTINGS.md` are made
 * of them.
 */
export const SETTINGS = {
  host: { schema: z.string().min(1), help: 'address to listen on', preset: '127.0.0.1' },
  port: { schema: integer(0, 65_535), help: 'TCP port', preset: '4021' },
  workers: {
    schema: integer(1, 64),
    help: 'a number of processes that share the port and the journal, at most one for each core; each counts rates by itself',
    preset: '1',
  },
  drain_seconds: {
    schema: integer(0, 300),
    help: 'seconds that /healthz answers 503 before a stop, long enough for your balancer to notice; requests are still served',
    preset: '0',
  },
  base_url: {
    schema: origin,
    help: 'public address, the one that was compiled in, for example https://api.example.com; without it that of the release',
  },
  data: {
    schema: z
      .string()
      .min(1)
      .superRefine(usable((text) => isRemote(text) && dataUrl(text))),
    help: 'the folder that holds "current", which is only read, or its https URL on a static host',
    preset: 'dist-data',
  },
  data_auth: {
    schema: z.string().regex(HEADER, 'not one header'),
    help: 'one header for the host of the data, "Authorization: Bearer …"',
  },
  data_http: {
    schema: z.enum(['0', '1'], { error: 'neither 0 nor 1' }).transform((on) => on === '1'),
    help: '1 to read the data over plain http from another machine; anyone on the way can then keep new releases back',
  },
  cache_mb: {
    schema: integer(CACHE_MB_MIN, 1_000_000),
    help: 'most megabytes that are kept of what was read from the host of the data',
    preset: '1024',
  },
  state: {
    schema: z.string().min(1),
    help: 'folder of the payment journal',
    preset: '.signalpress',
  },
  journal: {
    schema: z.string().superRefine(usableJournal),
    help: 'sqlite for the file in the state folder, or postgres://user:password@host:5432/database (POSTGRES.md)',
    preset: 'sqlite',
  },
  issuer_did: {
    schema: z.string().regex(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/, 'not an Ed25519 did:key'),
    help: 'the did:key:z6Mk… whose releases are served, and those of the keys that follow it; without it that of the first release',
  },
  rate_limit: {
    schema: integer(0, 1_000_000),
    help: 'plain free answers per second and client (COSTS.md), 0 for no limit',
    preset: '500',
  },
  trusted_proxy: {
    schema: z.string().superRefine(usable(trustedProxies, 'not a list of addresses')),
    help: 'addresses or ranges of your own proxies, for example 10.0.0.1,192.168.0.0/16',
  },
  pay_to: { schema: payee, help: 'address that is paid, 0x and 40 hex digits' },
  network: {
    schema: networks,
    help: `one of ${Object.keys(NETWORKS).join(', ')}, or several of them separated by commas, the one to offer first in front`,
    preset: 'base-sepolia',
  },
  tokens: {
    schema: z.string().superRefine(usable(furtherTokens)),
    help: `a token beside USDC that is at par with USD, as ${TOKEN_FORM}; several with commas`,
  },
  facilitator_url: {
    schema: facilitators,
    help: 'an https URL of an x402 facilitator, or several separated by commas in order of preference; on loopback, leave it out to use the local test facilitator',
  },
  facilitator_auth: {
    schema: z.string().regex(HEADER, 'not one header'),
    help: 'one header for calls of the facilitator, "Authorization: Bearer …"',
  },
  facilitator_auth_module: {
    schema: z.string(),
    help: 'path of a module that exports an async function authHeaders({ method, url })',
  },
  verify: {
    schema: z.enum(['always', 'settle-only'], { error: 'not a way to verify' }),
    help: 'always to call /verify before each /settle, or settle-only: then only for payers who never paid, where no node is set',
    preset: 'settle-only',
  },
  rpc_url: {
    schema: node,
    help: 'https URL of a node of the network, to confirm settlements on chain (the payee then belongs to this service alone); for several networks base=https://…,polygon=https://…',
  },
  confirmations: {
    schema: integer(1, 1000),
    help: 'a number of blocks, from 1 (as soon as a transfer is mined) to 17 (all that a buyer can be kept waiting for)',
    preset: '1',
  },
  relayer_key: {
    schema: z.string(),
    help: 'path of a key file of mode 600, or 64 hex digits, of an account that holds some gas money and settles in place of a facilitator',
  },
  max_fee_gwei: {
    schema: perNetwork(
      z
        .string()
        .regex(/^[0-9]{1,6}(\.[0-9]{1,9})?$/, 'not a decimal number')
        .refine((gwei) => /[1-9]/.test(gwei), 'no gas is that cheap'),
    ),
    help: 'most gwei that the relayer pays for one unit of gas, for several networks base=2,polygon=500; without it 2 on Base, 500 on Polygon, else 50',
  },
  test_payments: {
    schema: z.enum(['0', '1'], { error: 'neither 0 nor 1' }).transform((on) => on === '1'),
    help: '1 to simulate payments on a public address too; no money moves then',
  },
  token_secret: {
    schema: z
      .string()
      .superRefine(usable(tokenSecrets, 'not one or two secrets of at least 32 characters')),
    help: 'random text that signs subscription tokens; while you rotate it, new,old',
  },
  token_days: {
    schema: integer(1, TOKEN_DAYS_MAX),
    help: 'days that a token stays valid',
    preset: String(TOKEN_DAYS_DEFAULT),
  },
  receipt_key: {
    schema: processor,
    help: 'the did:key:z6Mk… of your payment processor, whose receipts are taken as X-RECEIPT',
  },
  offer_receipt_key: {
    schema: z.string(),
    help: 'path of a key file of mode 600, or 64 hex digits, of the key that signs receipts (EXTENSIONS.md); make it with "signalpress keygen"',
  },
  log_requests: {
    schema: z.enum(LOGGED_REQUESTS, { error: 'neither off, errors nor all' }),
    help: 'off, errors (only status 500 and above) or all',
    preset: 'all',
  },
  metrics: {
    schema: z.string().superRefine(usable(metricsAddress, 'not an address with a port')),
    help: 'an address and a port of their own for /metrics, for example 127.0.0.1:9464; further workers take the ports that follow',
  },
  metrics_token: {
    schema: z
      .string()
      .regex(METRICS_TOKEN, 'not 32 to 256 letters, digits or characters of ._~+/=-'),
    help: 'a random text that whoever reads /metrics sends as bearer token, for example of "openssl rand -hex 32"; without an address of their own they are at that of the service',
  },
} as const satisfies Readonly<Record<string, Setting>>;
export type SettingName = keyof typeof SETTINGS;

/** Settings that cannot be command-line options, because process lists show those. */
const NO_OPTION: readonly string[] = [
  'token_secret',
  'data_auth',
  'facilitator_auth',
  'journal',
  'metrics_token',
  'offer_receipt_key',
  'relayer_key',
];

/** Values that do not go into an error; a URL may hold a key as well. */
export const SECRET: readonly string[] = [...NO_OPTION, 'facilitator_url', 'rpc_url'];

/** A value as an error may repeat it: a URL without its user, password and query. */
export function shownValue(text: string): string {
  return text.replace(USER_INFO, '$1…@').replace(URL_QUERY, '$1?…').slice(0, 80);
}

/** Every setting, spelt as in the file beside the working directory. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);
/** Settings that the command line takes, with hyphens there. */
export const OPTION_NAMES = SETTING_NAMES.filter((name) => !NO_OPTION.includes(name));

/** Each setting with what to set, and what holds otherwise. */
export function settingRows(): [name: string, text: string][] {
  return Object.entries<Setting>(SETTINGS).map(([name, { help, preset }]) => [
    name,
    preset === undefined ? help : `${help} (default: ${preset})`,
  ]);
}

export function envName(name: string): string {
  return `SIGNALPRESS_${name.toUpperCase()}`;
}

/** Whether a setting names a PostgreSQL database rather than the file of the state folder. */
export function isPostgresUrl(journal: string): boolean {
  return /^postgres(ql)?:\/\//.test(journal);
}

/** Where a journal lies, as people may read it: neither user nor password nor options. */
export function shownPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
