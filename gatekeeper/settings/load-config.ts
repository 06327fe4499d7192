import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defined, messageOf } from '../../compiler/format/errors.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';
import { nearest } from '../../compiler/products/shapes/nearest.ts';
import { findNetwork, furtherTokens, type PaidNetwork } from '../settle/networks.ts';
import { LOGGED_REQUESTS } from '../wire/log/line-log.ts';
import { StartError } from '../wire/start-error.ts';
import type { Config } from './config.ts';
import { jointFaults } from './joint-faults.ts';
import {
  envName,
  metricsSettings,
  OPTION_NAMES,
  SECRET,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  settingRows,
  shownValue,
  TEST_PAYEE,
  valueFor,
} from './settings.ts';

/** The file beside the working directory that settings may stand in. */
export const CONFIG_NAME = 'signalpress.config.json';

/** Settings with a value that holds if nothing is set. */
type Preset = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { preset: string } ? Name : never;
}[SettingName];

/** Where settings come from, the first that has one wins. */
export interface ConfigSources {
  /** Command-line options by setting name: `{ port: '8080' }`. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of CONFIG_NAME, null when there is none. */
  readonly fileText: string | null;
}

/** Settings of the compiler that share the file and the environment; they are not read here. */
const FOREIGN = [
  ...['issuer_key', 'issuer_name', 'contact', 'publish_auth'],
  ...['log_memory', 'log_memory_auth'],
];

/** Settings that were taken away, each with what to do instead: who still sets one hears of it before anything starts. */
const GONE: Readonly<Record<string, string>> = {
  asset: 'leave it out: SIGNALPRESS_NETWORK says which USDC contract is paid',
  extensions:
    'leave it out: SIGNALPRESS_OFFER_RECEIPT_KEY turns offer-receipt on, and the others are always on',
  cache:
    'leave it out: the cache is the folder "cache" in SIGNALPRESS_STATE; link or mount another disk there',
  log_level:
    'leave it out, and set SIGNALPRESS_LOG_REQUESTS=errors for a short log; each line has its level',
};

/** Reads all settings; throws one StartError that names every fault and what to set instead. */
export function loadConfig(sources: ConfigSources): Config {
  const faults: string[] = [];
  const texts = givenTexts(sources, faults);
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const [name, text] of texts) {
    const remedy = GONE[name];
    if (remedy === undefined)
      values[name as SettingName] = checked(name as SettingName, text, faults);
    else faults.push(`${envName(name)}: no longer a setting; ${remedy}`);
  }
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
  const journal = texts.get('journal') ?? SETTINGS.journal.preset;
  checked('journal', journal, faults);
  return faults.length === 0
    ? { stateDir: texts.get('state') ?? SETTINGS.state.preset, journal }
    : refuse(faults);
}

function refuse(faults: readonly string[]): never {
  throw new StartError(
    `Cannot start: ${faults.length} setting${faults.length === 1 ? '' : 's'} to correct\n` +
      faults.map((fault) => `  ${fault}`).join('\n'),
  );
}

/** What the operator wrote, by setting; an empty value is ignored, so it hides no value from another source. */
function givenTexts(sources: ConfigSources, faults: string[]): ReadonlyMap<string, string> {
  const file = fileSettings(sources.fileText, faults);
  return new Map(
    [...SETTING_NAMES, ...Object.keys(GONE)].flatMap((name) => {
      const text = sources.options[name] || sources.env[envName(name)] || file[name];
      return text ? [[name, text] as const] : [];
    }),
  );
}

/** Variables that look like settings but are not: most likely misspelt. */
export function unknownVariables(env: ConfigSources['env']): string[] {
  const known = new Set([...SETTING_NAMES, ...FOREIGN, ...Object.keys(GONE)].map(envName));
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
  try {
    const json = text === null ? {} : parseJson(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      throw new RangeError('not an object of strings and numbers; write {"port": 4021}');
    for (const [name, value] of Object.entries(json)) {
      const fault = memberFault(name, value);
      if (fault === null) texts[name] = String(value);
      else faults.push(`${CONFIG_NAME}: "${name}" ${fault}`);
    }
  } catch (error) {
    faults.push(`${CONFIG_NAME}: ${messageOf(error)}`);
  }
  return texts;
}

/** Why a member of the file is not a valid setting; null if it may be one. */
function memberFault(name: string, value: unknown): string | null {
  const isKnown = [SETTINGS, GONE].some((one) => Object.hasOwn(one, name));
  if (!isKnown && !FOREIGN.includes(name))
    return `is not a setting; use one of ${SETTING_NAMES.join(', ')}`;
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

function configOf(values: Partial<Record<SettingName, unknown>>): Config {
  const text = (name: SettingName): string | null => {
    const value = values[name];
    return typeof value === 'string' ? value : null;
  };
  const textOrPreset = (name: Preset): string => text(name) ?? SETTINGS[name].preset;
  const whole = (name: Preset): number => Number(values[name] ?? SETTINGS[name].preset);
  const stateDir = textOrPreset('state');
  const list = values.facilitator_url;
  const [first, ...furtherNetworks] = textOrPreset('network')
    .split(',')
    .map((name): PaidNetwork => {
      const network = defined(findNetwork(name.trim()), 'the network, which was checked');
      return {
        network,
        rpcUrl: valueFor(network, text('rpc_url')),
        confirmations: whole('confirmations'),
        maxFeeGwei: valueFor(network, text('max_fee_gwei')) ?? network.maxFeeGwei,
      };
    });
  return {
    ...defined(first, 'the first network'),
    furtherNetworks,
    tokens: values.tokens === undefined ? [] : furtherTokens(text('tokens') ?? ''),
    host: textOrPreset('host'),
    port: whole('port'),
    baseUrl: text('base_url'),
    payTo: text('pay_to') ?? TEST_PAYEE,
    facilitatorUrls: Array.isArray(list) ? list.map(String) : [],
    facilitatorAuth: text('facilitator_auth'),
    facilitatorAuthModule: text('facilitator_auth_module'),
    relayerKey: text('relayer_key'),
    testPayments: values.test_payments === true,
    dataDir: textOrPreset('data'),
    dataAuth: text('data_auth'),
    cacheDir: join(stateDir, 'cache'),
    cacheMb: whole('cache_mb'),
    stateDir,
    journal: textOrPreset('journal'),
    tokenSecret: text('token_secret'),
    tokenDays: whole('token_days'),
    receiptKey: text('receipt_key'),
    issuerDid: text('issuer_did'),
    rateLimit: whole('rate_limit'),
    workers: whole('workers'),
    drainSeconds: whole('drain_seconds'),
    trustedProxy: text('trusted_proxy') ?? '',
    offerReceiptKey: text('offer_receipt_key'),
    verifyFirst: text('verify') === 'always',
    logRequests: LOGGED_REQUESTS.find((one) => one === values.log_requests) ?? 'all',
    metrics: metricsSettings(text('metrics'), text('metrics_token')),
  };
}

export const FLAGS: readonly string[] = OPTION_NAMES.map((name) => name.replaceAll('_', '-'));

/** All settings for `--help`: each by its flag, a secret by its variable. */
export function settingsHelp(): string {
  const shown = settingRows().map(([name, text]) => {
    const isFlag = OPTION_NAMES.includes(name);
    return [isFlag ? `--${name.replaceAll('_', '-')}` : envName(name), text];
  });
  return shown.map(([name = '', text]) => `  ${name.padEnd(33)} ${text}`).join('\n');
}

/** Reads the command-line arguments; throws a StartError that names the wrong one. */
export function commandLine(args: readonly string[]): {
  readonly wants: 'start' | 'help' | 'version';
  /** By setting name. */
  readonly options: Readonly<Record<string, string>>;
} {
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(FLAGS.map((flag) => [flag, { type: 'string' } as const])),
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
    strict: false,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  for (const wants of ['help', 'version'] as const) {
    if (given.some(({ name }) => name === wants)) return { wants, options: {} };
  }
  const stray = tokens.find((token) => token.kind === 'positional');
  const options = given.map(({ name, rawName, value, inlineValue }) => {
    const flag = `Cannot read flag "${rawName.slice(0, 40)}"`;
    if (!FLAGS.includes(name)) throw new StartError(`${flag}: ${unknownFlag(name)}`);
    // The next flag is not this one's value, but whatever follows "=" is.
    if (value === undefined || (inlineValue !== true && value.startsWith('-')))
      throw new StartError(`${flag}: it has no value; write ${rawName}=<value>`);
    return [name.replaceAll('-', '_'), value] as const;
  });
  if (stray === undefined) return { wants: 'start', options: Object.fromEntries(options) };
  throw new StartError(
    `Cannot read argument "${stray.value.slice(0, 40)}": it does not belong to a flag; see signalpress-gate --help`,
  );
}

function unknownFlag(flag: string): string {
  const name = flag.replaceAll('-', '_');
  if (Object.hasOwn(GONE, name)) return `no longer a setting; ${GONE[name]}`;
  if (SETTING_NAMES.includes(name) && !OPTION_NAMES.includes(name))
    return `a secret cannot be a flag, because process lists show it; set ${envName(name)}`;
  const suggestion = nearest(flag, FLAGS);
  return `no such flag; ${suggestion === null ? 'see signalpress-gate --help' : `did you mean "--${suggestion}"?`}`;
}
