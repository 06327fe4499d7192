import { z } from 'zod';
import { parseDidKey } from '../../compiler/contract/did-key.ts';
import { trustedProxies } from '../limits/client-address.ts';
import { LOG_LEVELS, LOGGED_REQUESTS } from '../log/log-level.ts';
import { payeeAddress } from '../money/address.ts';
import { EXTENSIONS } from '../money/extensions.ts';
import { facilitatorUrl, remoteUrl } from '../money/facilitator.ts';
import { findNetwork, furtherTokens, NETWORKS, TOKEN_FORM } from '../money/networks.ts';
import { TOKEN_DAYS_MAX, tokenSecrets } from '../money/token.ts';
import { messageOf } from '../system/message-of.ts';
import { dataUrl, isRemote } from './data-url.ts';
import { HEADER } from './header-setting.ts';
import { METRICS_TOKEN, metricsAddress } from './metrics-settings.ts';
import { networkValues } from './per-network.ts';
import { isPostgresUrl } from './postgres-url.ts';

/** Less would not hold one release. */
const CACHE_MB_MIN = 16;

/** The "payee" while the local facilitator is on: obviously nobody. */
export const TEST_PAYEE = '0x000000000000000000000000000000000000dEaD';

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
const URL_QUERY = /^([a-z]+:\/\/[^?#]*)\?.*/i;
const USER_INFO = /^([a-z]+:\/\/)[^/?#]*@/i;
const origin = url
  .refine((text) => !/[/?#]$|[?#]/.test(text), 'ends with "/" or has a query')
  .refine(
    (text) => !USER_INFO.test(text),
    'a user or password in it would appear in every challenge',
  );
const processor = z.string().refine(fits(parseDidKey), 'not an Ed25519 did:key');
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'not an address of 40 hex digits');
const payee = address.refine(fits(payeeAddress), 'checksum does not match; copy it again');
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'not a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `not between ${min} and ${max}`);

/** What the reader of a setting finds wrong with it. Those of URLs do not repeat a path or query, which may hold a key. */
const usable =
  (read: (text: string) => unknown) =>
  (text: string, context: z.RefinementCtx): void => {
    try {
      read(text);
    } catch (error) {
      context.addIssue(messageOf(error));
    }
  };
const facilitator = url.superRefine(usable(facilitatorUrl));
/** One value, or one for each network. */
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

/** URLs between commas, each of them checked. */
const facilitators = z
  .string()
  .transform((list) => list.split(',').map((one) => one.trim()))
  .pipe(z.array(facilitator));

const extensions = z
  .string()
  .transform((list) => list.split(',').map((one) => one.trim()))
  .pipe(z.array(z.enum(EXTENSIONS, { error: 'not a list of known extensions' })))
  .refine((names) => new Set(names).size === names.length, 'names an extension twice');

/** A folder is anything that is no URL. */
const usableData = (text: string, context: z.RefinementCtx): void => {
  if (isRemote(text)) usable(dataUrl)(text, context);
};

/** Settings by name with what to set; the environment spells them SIGNALPRESS_<NAME>. */
export const SETTINGS = {
  host: { schema: z.string().min(1), help: 'address to listen on, for example 127.0.0.1' },
  port: { schema: integer(0, 65_535), help: 'TCP port, for example 4021' },
  base_url: { schema: origin, help: 'public address, for example https://api.example.com' },
  pay_to: { schema: payee, help: 'address that is paid, 0x and 40 hex digits' },
  network: {
    schema: networks,
    help: `one of ${Object.keys(NETWORKS).join(', ')}, or several of them separated by commas, the one to offer first in front`,
  },
  asset: { schema: address, help: 'leave it out: only the USDC contract of the network is served' },
  tokens: {
    schema: z.string().superRefine(usable(furtherTokens)),
    help: `a token beside USDC that is at par with USD, as ${TOKEN_FORM}; several with commas`,
  },
  facilitator_url: {
    schema: facilitators,
    help: 'an https URL, or several separated by commas in order of preference; on loopback, leave it out to use the local test facilitator',
  },
  facilitator_auth: {
    schema: z.string().regex(HEADER, 'not one header'),
    help: 'one header, "Authorization: Bearer …"',
  },
  facilitator_auth_module: {
    schema: z.string(),
    help: 'path of a module that exports an async function authHeaders({ method, url })',
  },
  rpc_url: {
    schema: node,
    help: 'https URL of a node of the network; for several networks base=https://…,polygon=https://…',
  },
  confirmations: {
    schema: integer(1, 1000),
    help: 'a number of blocks, from 1 (as soon as a transfer is mined) to 17 (all that a buyer can be kept waiting for)',
  },
  relayer_key: {
    schema: z.string(),
    help: 'path of a key file of mode 600, or 64 hex digits, of an account that holds some gas money',
  },
  max_fee_gwei: {
    schema: perNetwork(
      z
        .string()
        .regex(/^[0-9]{1,6}(\.[0-9]{1,9})?$/, 'not a decimal number')
        .refine((gwei) => /[1-9]/.test(gwei), 'no gas is that cheap'),
    ),
    help: 'most gwei for one unit of gas, for example 2; for several networks base=2,polygon=500',
  },
  test_payments: {
    schema: z.enum(['0', '1'], { error: 'neither 0 nor 1' }).transform((on) => on === '1'),
    help: '1 to simulate payments on a public address too; no money moves then',
  },
  data: {
    schema: z.string().min(1).superRefine(usableData),
    help: 'the folder that holds "current", for example dist-data, or the https URL of one that is served',
  },
  data_auth: {
    schema: z.string().regex(HEADER, 'not one header'),
    help: 'one header for the host of the data, "Authorization: Bearer …"',
  },
  data_http: {
    schema: z.enum(['0', '1'], { error: 'neither 0 nor 1' }).transform((on) => on === '1'),
    help: '1 to read the data over plain http from another machine',
  },
  cache: { schema: z.string().min(1), help: 'folder for what was read from the host of the data' },
  cache_mb: {
    schema: integer(CACHE_MB_MIN, 1_000_000),
    help: 'most megabytes of that folder, for example 1024',
  },
  state: { schema: z.string().min(1), help: 'folder of the payment journal' },
  journal: {
    schema: z.string().superRefine(usableJournal),
    help: 'sqlite for the file in the state folder, or postgres://user:password@host:5432/database',
  },
  token_secret: {
    schema: z
      .string()
      .refine(fits(tokenSecrets), 'not one or two secrets of at least 32 characters'),
    help: 'random text; while you rotate it, new,old',
  },
  receipt_key: { schema: processor, help: 'the did:key:z6Mk… of your payment processor' },
  token_days: { schema: integer(1, TOKEN_DAYS_MAX), help: 'days that a token stays valid' },
  issuer_did: {
    schema: z.string().regex(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{40,50}$/, 'not an Ed25519 did:key'),
    help: 'the did:key:z6Mk… whose releases are served',
  },
  rate_limit: {
    schema: integer(0, 1_000_000),
    help: 'plain free answers per second and client, 0 for no limit',
  },
  workers: {
    schema: integer(1, 64),
    help: 'a number of processes, at most one for each core',
  },
  drain_seconds: {
    schema: integer(0, 300),
    help: 'seconds, long enough for your balancer to notice that /healthz answers 503',
  },
  trusted_proxy: {
    schema: z.string().refine(fits(trustedProxies), 'not a list of addresses'),
    help: 'addresses or ranges of your own proxies, for example 10.0.0.1,192.168.0.0/16',
  },
  verify: {
    schema: z.enum(['always', 'settle-only'], { error: 'not a way to verify' }),
    help: 'settle-only, or always to ask /verify before /settle',
  },
  extensions: {
    schema: extensions,
    help: 'offer-receipt; payment-identifier and sign-in-with-x are always on',
  },
  offer_receipt_key: {
    schema: z.string(),
    help: 'path of a key file of mode 600, or 64 hex digits, of the key that signs receipts; make it with "signalpress keygen"',
  },
  log_level: {
    schema: z.enum(LOG_LEVELS, { error: 'not a level' }),
    help: 'info, warn or error, the least that is logged',
  },
  log_requests: {
    schema: z.enum(LOGGED_REQUESTS, { error: 'neither off, errors nor all' }),
    help: 'off, errors (only status 500 and above) or all',
  },
  metrics: {
    schema: z.string().refine(fits(metricsAddress), 'not an address with a port'),
    help: 'an address and a port of their own for /metrics, for example 127.0.0.1:9464',
  },
  metrics_token: {
    schema: z
      .string()
      .regex(METRICS_TOKEN, 'not 32 to 256 letters, digits or characters of ._~+/=-'),
    help: 'a random text that whoever reads /metrics sends as bearer token, for example of "openssl rand -hex 32"',
  },
} as const;
export type SettingName = keyof typeof SETTINGS;

/** Values that do not go into an error. */
export const SECRET: readonly string[] = [
  'token_secret',
  'data_auth',
  'metrics_token',
  'facilitator_auth',
  'facilitator_url',
  'journal',
  'offer_receipt_key',
  'relayer_key',
  'rpc_url',
];

/** A value as an error may repeat it: a URL without its user, password and query. */
export function shownValue(text: string): string {
  return text.replace(USER_INFO, '$1…@').replace(URL_QUERY, '$1?…').slice(0, 80);
}

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

/** Every setting, spelt as in the file beside the working directory. */
export const SETTING_NAMES: readonly string[] = Object.keys(SETTINGS);
/** Settings that the command line takes, with hyphens there. */
export const OPTION_NAMES = SETTING_NAMES.filter((name) => !NO_OPTION.includes(name));

/** The environment variable of a setting. */
export function envName(name: string): string {
  return `SIGNALPRESS_${name.toUpperCase()}`;
}
