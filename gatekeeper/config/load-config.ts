import { join } from 'node:path';
import { defined } from '../../compiler/contract/defined.ts';
import { nearest } from '../../compiler/contract/nearest.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { LOG_LEVELS, LOGGED_REQUESTS } from '../log/log-level.ts';
import { BUYER_EXTENSIONS, type Extension } from '../money/extensions.ts';
import { findNetwork, furtherTokens } from '../money/networks.ts';
import { TOKEN_DAYS_DEFAULT } from '../money/token.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import type { Config, PaidNetwork } from './config.ts';
import { jointFaults } from './joint-faults.ts';
import { metricsSettings } from './metrics-settings.ts';
import { valueFor } from './per-network.ts';
import {
  envName,
  SECRET,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  shownValue,
  TEST_PAYEE,
} from './settings.ts';

/** Default units per second and client: about 3 % of a core, or 80 purchases a second. */
const RATE_LIMIT = 500;

const STATE_DIR = '.signalpress';
/** Room for a shop of a hundred thousand records. */
const CACHE_MB = 1024;

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

/** Settings of the compiler that share the file and the environment; they are not read here. */
const FOREIGN = ['issuer_key', 'issuer_name', 'contact', 'publish_auth'];

/** Reads all settings; throws one StartError that names every fault and what to set instead. */
export function loadConfig(sources: ConfigSources): Config {
  const faults: string[] = [];
  const texts = givenTexts(sources, faults);
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const [name, text] of texts) values[name] = checked(name, text, faults);
  const config = configOf(values);
  faults.push(...jointFaults(config, { values, isGiven: (name) => texts.has(name) }));
  if (faults.length === 0) return config;
  // Next to a fault a misspelt name is the likely cause of it.
  faults.push(...unknownVariables(sources.env).map(unknownVariableText));
  return refuse(faults);
}

/** Where the journal lies, for programs that need no other setting. */
export function loadJournalPlace(sources: ConfigSources): Pick<Config, 'stateDir' | 'journal'> {
  const faults: string[] = [];
  const texts = givenTexts(sources, faults);
  const journal = texts.get('journal') ?? 'sqlite';
  checked('journal', journal, faults);
  return faults.length === 0
    ? { stateDir: texts.get('state') ?? STATE_DIR, journal }
    : refuse(faults);
}

function refuse(faults: readonly string[]): never {
  throw new StartError(
    `Cannot start: ${faults.length} setting${faults.length === 1 ? '' : 's'} to correct\n` +
      faults.map((fault) => `  ${fault}`).join('\n'),
  );
}

/** What the operator wrote, by setting; an empty value is ignored, so it hides no value from another source. */
function givenTexts(sources: ConfigSources, faults: string[]): ReadonlyMap<SettingName, string> {
  const file = fileSettings(sources.fileText, faults);
  return new Map(
    (Object.keys(SETTINGS) as SettingName[]).flatMap((name) => {
      const text = sources.options[name] || sources.env[envName(name)] || file[name];
      return text ? [[name, text] as const] : [];
    }),
  );
}

/** Variables that look like settings but are not: most likely misspelt. */
export function unknownVariables(env: ConfigSources['env']): string[] {
  const known = new Set([...SETTING_NAMES, ...FOREIGN].map(envName));
  return Object.keys(env).filter((name) => name.startsWith(envName('')) && !known.has(name));
}

/** Says which setting such a variable was probably meant to be. */
export function unknownVariableText(variable: string): string {
  const suggestion = nearest(variable.slice(envName('').length), SETTING_NAMES);
  const hint = suggestion === null ? 'correct its name' : `did you mean ${envName(suggestion)}?`;
  return `"${variable}" is not a setting and is ignored; ${hint}`;
}

function fileSettings(text: string | null, faults: string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(fileMembers(text, faults))) {
    const fault = memberFault(name, value);
    if (fault === null) texts[name] = String(value);
    else faults.push(`${CONFIG_NAME}: "${name}" ${fault}`);
  }
  return texts;
}

function fileMembers(text: string | null, faults: string[]): Readonly<Record<string, unknown>> {
  if (text === null) return {};
  try {
    const json = parseJson(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json };
    faults.push(`${CONFIG_NAME}: not an object of strings and numbers; write {"port": 4021}`);
  } catch (error) {
    faults.push(`${CONFIG_NAME}: ${messageOf(error)}`);
  }
  return {};
}

/** Why a member of the file is not a valid setting; null if it may be one. */
function memberFault(name: string, value: unknown): string | null {
  const isKnown = Object.hasOwn(SETTINGS, name) || FOREIGN.includes(name);
  if (!isKnown) return `is not a setting; use one of ${SETTING_NAMES.join(', ')}`;
  if (typeof value === 'string' || typeof value === 'number') return null;
  if (Array.isArray(value))
    return 'is a list; write one string, with commas between several values';
  return 'is neither a string nor a number; write it as one of them';
}

function checked(name: SettingName, text: string, faults: string[]): unknown {
  const { schema, help } = SETTINGS[name];
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? 'malformed';
  const shown = SECRET.includes(name) ? '' : ` "${shownValue(text)}"`;
  const remedy = help.startsWith('leave') ? help : `set ${help}`;
  faults.push(`${envName(name)}${shown}: ${why}; ${remedy}`);
  return undefined;
}

/** How single settings are read. */
interface Readers {
  readonly text: (name: SettingName) => string | null;
  readonly whole: (name: SettingName, otherwise: number) => number;
}

function paidNetwork(name: string, { text, whole }: Readers): PaidNetwork {
  const network = findNetwork(name);
  if (network === undefined) throw new RangeError('Cannot read settings: network not checked');
  return {
    network,
    rpcUrl: valueFor(network, text('rpc_url')),
    confirmations: whole('confirmations', 1),
    maxFeeGwei: valueFor(network, text('max_fee_gwei')) ?? network.maxFeeGwei,
  };
}

function configOf(values: Partial<Record<SettingName, unknown>>): Config {
  const text = (name: SettingName): string | null => {
    const value = values[name];
    return typeof value === 'string' ? value : null;
  };
  const textOr = (name: SettingName, otherwise: string): string => text(name) ?? otherwise;
  const choice = <T>(name: SettingName, of: readonly T[], otherwise: T): T =>
    of.find((one) => one === values[name]) ?? otherwise;
  const whole = (name: SettingName, otherwise: number): number => {
    const value = values[name];
    return typeof value === 'number' ? value : otherwise;
  };
  const stateDir = textOr('state', STATE_DIR);
  const list = values.facilitator_url;
  const given = values.extensions as readonly Extension[] | undefined;
  const [first, ...furtherNetworks] = textOr('network', 'base-sepolia')
    .split(',')
    .map((name) => paidNetwork(name.trim(), { text, whole }));
  return {
    ...defined(first, 'the first network'),
    furtherNetworks,
    tokens: values.tokens === undefined ? [] : furtherTokens(textOr('tokens', '')),
    host: textOr('host', '127.0.0.1'),
    port: whole('port', 4021),
    baseUrl: text('base_url'),
    payTo: textOr('pay_to', TEST_PAYEE),
    facilitatorUrls: Array.isArray(list) ? list.map(String) : [],
    facilitatorAuth: text('facilitator_auth'),
    facilitatorAuthModule: text('facilitator_auth_module'),
    relayerKey: text('relayer_key'),
    testPayments: values.test_payments === true,
    dataDir: textOr('data', 'dist-data'),
    dataAuth: text('data_auth'),
    cacheDir: textOr('cache', join(stateDir, 'cache')),
    cacheMb: whole('cache_mb', CACHE_MB),
    stateDir,
    journal: textOr('journal', 'sqlite'),
    tokenSecret: text('token_secret'),
    tokenDays: whole('token_days', TOKEN_DAYS_DEFAULT),
    receiptKey: text('receipt_key'),
    issuerDid: text('issuer_did'),
    rateLimit: whole('rate_limit', RATE_LIMIT),
    workers: whole('workers', 1),
    drainSeconds: whole('drain_seconds', 0),
    trustedProxy: textOr('trusted_proxy', ''),
    extensions: [...new Set([...BUYER_EXTENSIONS, ...(given ?? [])])],
    offerReceiptKey: text('offer_receipt_key'),
    verifyFirst: text('verify') === 'always',
    logLevel: choice('log_level', LOG_LEVELS, 'info'),
    logRequests: choice('log_requests', LOGGED_REQUESTS, 'all'),
    metrics: metricsSettings(text('metrics'), text('metrics_token')),
  };
}
