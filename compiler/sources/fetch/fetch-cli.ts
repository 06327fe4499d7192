import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  hostsOf,
  noticesOf,
  type RowChanges,
  rowChangesSchema,
  saleDoubt,
} from '../../catalog/register.ts';
import type { RunStatus, SourceStatus } from '../../catalog/run-status.ts';
import { defined, messageOf } from '../../format/errors.ts';
import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { nearest } from '../../products/shapes/nearest.ts';
import { type Clock, DURATION_WORDS, durationMs, Pace } from '../../system/clock.ts';
import { lockData } from '../../system/data-lock.ts';
import { readPlain } from '../../system/plain-file.ts';
import { importDisk } from '../import-command.ts';
import { PAYLOAD_BYTES_MAX } from '../kit/payload.ts';
import type { Source } from '../kit/source.ts';
import { SOURCES, sourceOf } from '../sources.ts';
import { agencyClient, TIMEOUTS } from './agency-client.ts';
import { Archive, archiveFolder, READINGS_FOLDER } from './archive.ts';
import {
  addressesOf,
  NO_SOURCE_STATUS,
  type SourceReport,
  SourcesRunner,
  type StepReport,
  unreadIn,
  type WantedSource,
} from './sources-runner.ts';

/** The file that says what `run` fetches, where no other is named. */
const SOURCES_FILE = 'signalpress.sources.json';
const CONFIG_BYTES_MAX = 1 << 20;
/**
 * A batch is one hour. A second fetch within it brings little, and makes the next compile read everything again, so it is
 * done only where the operator asks for it.
 */
const EVERY_MS_LEAST = HOUR_MS;
const ENTITIES_MAX = 1000;

const duration = z.string().transform((text, context) => {
  const ms = durationMs(text);
  if (ms !== null) return ms;
  context.addIssue({ code: 'custom', message: `not ${DURATION_WORDS}` });
  return z.NEVER;
});

const origin = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !/[?#]/.test(text), 'an address with a query or fragment; leave that out');

const configSchema = z.strictObject({
  every: duration.optional(),
  origins: z.record(z.string(), origin).optional(),
  sources: z.record(
    z.string(),
    z.strictObject({
      entities: z.array(z.string().trim().min(1).max(200)).max(ENTITIES_MAX).optional(),
      every: duration.optional(),
      // What stands in place of the register: an address that moved, a key, the host of a paid plan.
      ...rowChangesSchema.shape,
    }),
  ),
});

interface SourcesConfig {
  readonly wanted: readonly WantedSource[];
  readonly origins: Readonly<Record<string, string>>;
}

class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

function refusal(file: string, faults: readonly string[]): string {
  const list = faults.map((fault) => `\n  ${fault}`).join('');
  return `Cannot use configuration "${file}": correct it:${list}`;
}

/** Reads the bytes of a configuration; throws a ConfigError that names every member at fault. */
export function parseConfig(
  bytes: Uint8Array,
  file: string,
  sources: readonly Source[],
): SourcesConfig {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    throw new ConfigError(refusal(file, [messageOf(cause)]), { cause });
  }
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new ConfigError(refusal(file, faults), { cause: parsed.error });
  }
  const { every, origins = {}, sources: named } = parsed.data;
  const known = sources.map(({ id }) => id);
  const changed = sources.map((source) => changedSource(source, named[source.id] ?? {}));
  const hosts = changed.flatMap(({ row }) => (row === null ? [] : hostsOf(row)));
  const faults = [
    ...Object.keys(named).flatMap((id) => {
      if (known.includes(id)) return [];
      const suggestion = nearest(id, known);
      const hint =
        suggestion === null ? 'see "signalpress sources list"' : `did you mean "${suggestion}"?`;
      return [`sources.${id}: no such source; ${hint}`];
    }),
    ...Object.keys(origins).flatMap((host) =>
      hosts.includes(host) ? [] : [`origins.${host}: no source is fetched from this host`],
    ),
  ];
  for (const { id, row } of sources) {
    const known = Object.keys(row?.addresses ?? {});
    const strange = Object.keys(named[id]?.addresses ?? {}).find((name) => !known.includes(name));
    if (strange === undefined) continue;
    faults.push(`sources.${id}.addresses.${strange}: not one of ${known.join(', ')}`);
  }
  if (Object.keys(named).length === 0) faults.push('sources: none; "sources list" shows all');
  if (faults.length > 0) throw new ConfigError(refusal(file, faults));
  const wanted = changed.flatMap((source) => {
    const own = named[source.id];
    if (own === undefined) return [];
    const { entities = [] } = own;
    return [{ source, entities, everyMs: own.every ?? everyMsOf(source, every) }];
  });
  return { wanted, origins };
}

/** How often a source is fetched where nothing else is said of it. */
export function everyMsOf({ row }: Source, least = EVERY_MS_LEAST): number {
  return Math.max(least, (row?.pace.every_minutes ?? 0) * 60_000);
}

/** A source as the register and the configuration together describe it. */
function changedSource(source: Source, { addresses, hosts, key }: RowChanges): Source {
  const { row } = source;
  if (row === null) return source;
  const own = { ...(hosts === undefined ? {} : { hosts }), ...(key === undefined ? {} : { key }) };
  return { ...source, row: { ...row, addresses: { ...row.addresses, ...addresses }, ...own } };
}

const RUN_EXIT = { well: 0, failed: 1, partly: 3 } as const;
const ERROR_CHARS_MAX = 160;

/** What a step did, a line for each thing worth telling; nothing where nothing was done. */
export function stepText({ sources, settled, release, warnings, status }: StepReport): string[] {
  const { last_error, is_due } = status.compile;
  return [
    ...sources.flatMap(sourceText),
    ...warnings.map((text) => `warning: ${text}`),
    ...(settled > 0 ? [`${settled} revised readings that waited for this hour are stored`] : []),
    ...(release === null ? [] : [`Release ${release} is published`]),
    ...(is_due && last_error !== null ? [`Nothing was published: ${last_error}`] : []),
  ];
}

function sourceText({ outcome, taken, failure }: SourceReport): string[] {
  const { source, answered, changed, remarks, isCut } = outcome;
  const rows = taken.reduce((sum, one) => sum + one.rows, 0);
  const waiting = taken.reduce((sum, one) => sum + one.waiting, 0);
  const waits = waiting === 0 ? '' : `, ${waiting} revised wait for the next hour`;
  const unread = unreadIn(taken);
  const all = taken.flatMap((one) => one.skipped).reduce((sum, one) => sum + one.count, 0);
  const unreads = unread === 0 ? '' : `, ${unread} unreadable`;
  const skips = all === unread ? unreads : `${unreads}, ${all - unread} skipped`;
  return [
    `${source}: ${answered} answers, ${changed} changed, ${rows} rows${waits}${skips}`,
    ...[...remarks, ...taken.flatMap((one) => one.remarks)].map((text) => `  note: ${text}`),
    ...(isCut ? ['  cut short; it goes on next time'] : []),
    ...(failure === null || isCut ? [] : [`  FAILED: ${failure}`]),
  ];
}

function statusTable(status: RunStatus, ids: readonly string[]): string {
  const head = ['source', 'state', 'last success', 'last change', 'next due', 'failures', 'error'];
  const rows = ids.map((id) => {
    const own = status.sources[id] ?? NO_SOURCE_STATUS;
    const { last_success, last_change, next_due, consecutive_failures, last_error } = own;
    const error = (last_error ?? '').replace(/\s+/g, ' ');
    const isLong = error.length > ERROR_CHARS_MAX;
    return [
      id,
      stateOf(own),
      last_success ?? '-',
      last_change ?? '-',
      next_due ?? 'now',
      String(consecutive_failures),
      isLong ? `${error.slice(0, ERROR_CHARS_MAX)}…` : error,
    ];
  });
  return tableText([head, ...rows]);
}

function stateOf({ last_attempt, consecutive_failures, waiting, unread }: SourceStatus): string {
  if (last_attempt === null) return 'new';
  if (consecutive_failures > 0) return 'FAILING';
  const waits = waiting > 0 ? `, ${waiting} wait` : '';
  return `ok${waits}${unread > 0 ? `, ${unread} unreadable` : ''}`;
}

function tableText(rows: readonly (readonly string[])[]): string {
  const width = (at: number): number =>
    Math.max(...rows.map((row) => defined(row[at], 'the cell').length));
  const line = (row: readonly string[]): string =>
    row.map((text, at) => text.padEnd(width(at))).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

/** 0 when all is well, 3 when some source fails and the others are published, 1 when nothing is. */
export function exitCodeOf({ sources, compile }: RunStatus, ids: readonly string[]): number {
  const failing = ids.filter((id) => (sources[id]?.consecutive_failures ?? 0) > 0);
  if (compile.last_error !== null || (ids.length > 0 && failing.length === ids.length)) {
    return RUN_EXIT.failed;
  }
  return failing.length > 0 ? RUN_EXIT.partly : RUN_EXIT.well;
}

/** Clocks are set and machines sleep, so what is due is looked at this often. */
const LOOK_MS_MAX = 600_000;
const LOOK_MS_MIN = 1_000;
/** Wait after a step that could not be done at all, such as on a full disk. */
const FAULT_MS = 300_000;

export async function runLoop(
  runner: Pick<SourcesRunner, 'step' | 'nextWake'>,
  {
    clock,
    signal,
    onStep,
    onFault,
  }: {
    clock: Clock;
    signal: AbortSignal;
    onStep: (report: StepReport) => void | Promise<void>;
    onFault: (error: unknown) => void;
  },
): Promise<void> {
  while (!signal.aborted) {
    const wait = await stepAndWait();
    if (!signal.aborted) await clock.sleep(wait, signal);
  }

  async function stepAndWait(): Promise<number> {
    try {
      const report = await runner.step();
      await onStep(report);
      const wait = runner.nextWake(report.status) - clock.now();
      return Math.min(Math.max(wait, LOOK_MS_MIN), LOOK_MS_MAX);
    } catch (error) {
      onFault(error);
      return FAULT_MS;
    }
  }
}

const MINUTE_MS = 60_000;

/** Why sources cannot be asked, by their names; nothing is asked to find out. */
function refusalsOf(
  wanted: readonly WantedSource[],
  {
    contact,
    env,
    now,
  }: { contact: string | null; env: (name: string) => string | undefined; now: number },
): ReadonlyMap<string, string> {
  return new Map(
    wanted.flatMap(({ source, entities }) => {
      const found = addressesOf(source, entities, { contact, keyOf: env, now });
      return typeof found === 'string' ? [[source.id, found] as const] : [];
    }),
  );
}

/** The sources that would be asked more often than their agency takes. */
function overAsked(
  wanted: readonly WantedSource[],
  by: Parameters<typeof refusalsOf>[1],
): readonly string[] {
  return wanted.flatMap(({ source, entities, everyMs }) => {
    const { per_hour = Infinity, per_day = Infinity } = source.row?.pace ?? {};
    const asked = addressesOf(source, entities, { ...by, keyOf: by.env });
    const aDay = typeof asked === 'string' ? 0 : (asked.length * DAY_MS) / everyMs;
    const most = Math.min(per_day, per_hour * 24);
    if (aDay <= most) return [];
    return [`${source.id}: ${Math.ceil(aDay)} requests a day, and its agency takes ${most}`];
  });
}

function listText(sources: readonly Source[], env: (name: string) => string | undefined): string {
  const head = ['source', 'every', 'needs', 'terms', 'agency'];
  const rows = sources.map((source) => [
    source.id,
    isAsked(source) ? durationText(everyMsOf(source)) : 'files only',
    needsOf(source, env),
    termsOf(source),
    source.agency,
  ]);
  return tableText([head, ...rows]);
}

function termsOf({ row }: Source): string {
  if (row === null) return '-';
  const { licence, may_be_sold } = row.terms;
  if (saleDoubt(row) !== null) return `${licence}, not read`;
  return may_be_sold ? licence : `${licence}, sold with a paid plan`;
}

function isAsked({ row }: Source): boolean {
  return Object.keys(row?.addresses ?? {}).length > 0;
}

function needsOf({ row }: Source, env: (name: string) => string | undefined): string {
  const { key, needs_contact } = row ?? {};
  const isSet = (name: string): string => ((env(name) ?? '') === '' ? '' : ' (set)');
  const contact = 'SIGNALPRESS_CONTACT';
  const needs = [
    ...(key === undefined ? [] : [`${key.variable}${isSet(key.variable)}`]),
    ...(needs_contact === true ? [`${contact}${isSet(contact)}`] : []),
  ];
  return needs.length === 0 ? '-' : needs.join(', ');
}

function durationText(ms: number): string {
  const minutes = ms / MINUTE_MS;
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

interface FetchFlags {
  readonly snapshots: string;
  readonly archive?: string;
  readonly status?: string;
  readonly config: string;
  readonly contact?: string;
}

export interface FetchSettings {
  readonly version: string;
  readonly clock: Clock;
  readonly env: (name: string) => string | undefined;
  readonly print: (text: string) => void;
  readonly exit: (code: number) => void;
  /** Calls once when the process is told to end; returns what takes that back. */
  readonly onStop: (stop: () => void) => () => void;
  readonly errorText: (error: unknown) => string;
  /** Adds the options of a compile to a command, with the folder of batches where none is named. */
  readonly withCompileOptions: (command: Command, snapshots: string) => Command;
  /** Takes the flags of such a command, and refuses bad ones. */
  readonly compiler: (flags: unknown) => {
    /** Publishes, and tells the number of the release. */
    publish: () => Promise<number>;
    askAgain: () => Promise<void>;
  };
  readonly sources?: readonly Source[];
}

const ARCHIVE = [
  '--archive <folder>',
  'folder of payloads (default: archive below the batches)',
] as const;
const STATUS = ['--status <file>', 'status file (default: status.json in the archive)'] as const;
const CONFIG = ['--config <file>', 'what to fetch', SOURCES_FILE] as const;

export function defineFetch(command: Command, by: FetchSettings): void {
  command
    .argument('<source...>', 'sources, as "sources list" names them')
    .option('--entities <list>', 'entities with commas, for one source')
    .option('--every <duration>', `fetch again and again: ${DURATION_WORDS}`)
    .option('--snapshots <folder>', 'folder of batches', READINGS_FOLDER)
    .option(...ARCHIVE)
    .option(...STATUS)
    .option(...CONFIG)
    .addOption(contactOption(by))
    .action((ids: readonly string[], flags: OneFetchFlags) => runFetch(ids, flags, by));
}

export function defineRun(command: Command, by: FetchSettings): void {
  by.withCompileOptions(command, READINGS_FOLDER)
    .option('--once', 'do what is due now and end, for cron')
    .option(...ARCHIVE)
    .option(...STATUS)
    .option(...CONFIG)
    .action((flags: RunFlags) => runRun(flags, by));
}

export function defineSources(sources: Command, by: FetchSettings): void {
  const known = by.sources ?? SOURCES;
  sources
    .command('list')
    .description('show every source: how often it is fetched, and what it needs')
    .action(() => by.print(listText(known, by.env)));
  sources
    .command('init')
    .description('write a configuration with every source that can be fetched as things are')
    .option(...CONFIG)
    .addOption(contactOption(by))
    .action((flags: FetchFlags) => runInit(flags, by));
  sources
    .command('check')
    .description('check the configuration, and what has ended or may not be sold; sends no request')
    .option(...CONFIG)
    .addOption(contactOption(by))
    .action((flags: FetchFlags) => runCheck(flags, by));
}

interface OneFetchFlags extends FetchFlags {
  readonly entities?: string;
  readonly every?: string;
}

interface RunFlags extends FetchFlags {
  readonly once?: boolean;
}

function contactOption({ env }: FetchSettings): Option {
  const text = 'mailto: or https address that agencies see in User-Agent';
  return new Option('--contact <uri>', text).default(env('SIGNALPRESS_CONTACT'));
}

/** A second program cannot write into the same archive; the lock says who does. */
async function runFetch(
  ids: readonly string[],
  flags: OneFetchFlags,
  by: FetchSettings,
): Promise<void> {
  const wanted = wantedOf(ids, flags, by);
  const config = { wanted, origins: configIfAny(flags, by)?.origins ?? {} };
  await withRunner(config, { flags, by, compile: null }, async ({ runner, signal }) => {
    const onStep = (report: StepReport) => tell(report, wanted, by);
    // The first time everything is fetched, then what is due.
    onStep(await runner.step({ isForced: true }));
    if (flags.every === undefined) return;
    await runLoop(runner, { clock: by.clock, signal, onStep, onFault: faultTeller(by) });
  });
}

/** Entities: those of the command, else those of the configuration if there is one. */
function wantedOf(ids: readonly string[], flags: OneFetchFlags, by: FetchSettings): WantedSource[] {
  const { entities, every } = flags;
  if (entities !== undefined && ids.length > 1) {
    throw new RangeError('Cannot use --entities for several sources: fetch one source at a time');
  }
  const given = entities?.split(',').flatMap((text) => (text.trim() === '' ? [] : [text.trim()]));
  const everyMs = every === undefined ? undefined : durationMs(every);
  if (everyMs === null)
    throw new RangeError(`Cannot use --every "${every}": not ${DURATION_WORDS}`);
  const config = configIfAny(flags, by);
  return [...new Set(ids)].map((id) => {
    const source = by.sources?.find((one) => one.id === id) ?? sourceOf(id);
    const own = config?.wanted.find((one) => one.source.id === id);
    const base = own ?? { source, entities: [], everyMs: everyMsOf(source) };
    return { ...base, entities: given ?? base.entities, everyMs: everyMs ?? base.everyMs };
  });
}

async function runRun(flags: RunFlags, by: FetchSettings): Promise<void> {
  const config = configOf(flags, by);
  const { publish, askAgain } = by.compiler(flags);
  await withRunner(config, { flags, by, compile: publish }, async ({ runner, signal }) => {
    const onStep = async (report: StepReport): Promise<void> => {
      tell(report, config.wanted, by);
      await askAgain();
    };
    if (flags.once === true) return onStep(await runner.step({ hasSlack: true }));
    await runLoop(runner, { clock: by.clock, signal, onStep, onFault: faultTeller(by) });
  });
}

function tell(report: StepReport, wanted: readonly WantedSource[], by: FetchSettings): void {
  const ids = wanted.map(({ source }) => source.id);
  const lines = stepText(report);
  for (const line of lines) by.print(line);
  if (lines.length > 0) by.print(statusTable(report.status, ids));
  by.exit(exitCodeOf(report.status, ids));
}

function faultTeller(by: FetchSettings) {
  return (error: unknown): void => {
    by.print(by.errorText(error));
    by.exit(RUN_EXIT.failed);
  };
}

async function withRunner(
  { wanted, origins }: SourcesConfig,
  {
    flags,
    by,
    compile,
  }: { flags: FetchFlags; by: FetchSettings; compile: (() => Promise<number>) | null },
  use: (running: { readonly runner: SourcesRunner; readonly signal: AbortSignal }) => Promise<void>,
): Promise<void> {
  const folder = flags.archive ?? archiveFolder(flags.snapshots);
  const contact = contactOf(flags);
  const unlock = lockData(folder);
  const stop = new AbortController();
  const forget = by.onStop(() => stop.abort());
  const archive = new Archive(folder);
  const userAgent = `signalpress/${by.version}${contact === null ? '' : ` (${contact})`}`;
  const bytesMax = PAYLOAD_BYTES_MAX;
  const client = agencyClient({ userAgent, origins, timeouts: TIMEOUTS, bytesMax });
  const { clock, env, errorText } = by;
  const runner = new SourcesRunner(wanted, {
    client,
    archive,
    clock,
    pace: new Pace(clock),
    contact,
    keyOf: env,
    signal: stop.signal,
    disk: importDisk.snapshots(flags.snapshots),
    statusFile: flags.status ?? join(folder, 'status.json'),
    publish: compile,
    errorText,
  });
  try {
    archive.tidy();
    await use({ runner, signal: stop.signal });
  } finally {
    forget();
    await client.close();
    unlock();
  }
}

/** The contact as agencies want it in `User-Agent`; throws a RangeError for one that cannot stand there. */
function contactOf({ contact }: FetchFlags): string | null {
  if (contact === undefined || contact === '') return null;
  if (/^(mailto:[^\s@()]+@[^\s@()]+|https:\/\/[^\s()]+)$/.test(contact)) {
    return contact.replace(/^mailto:/, '');
  }
  throw new RangeError(
    `Cannot name contact "${contact}": not an address such as mailto:ops@example.org`,
  );
}

function configOf(flags: Pick<FetchFlags, 'config'>, by: FetchSettings): SourcesConfig {
  const config = configIfAny(flags, by);
  if (config !== null) return config;
  throw new RangeError(
    `Cannot read configuration "${flags.config}": there is none; write one with "signalpress sources init"`,
  );
}

function configIfAny(
  { config }: Pick<FetchFlags, 'config'>,
  { sources = SOURCES }: FetchSettings,
): SourcesConfig | null {
  if (!existsSync(config)) return null;
  return parseConfig(readPlain(config, CONFIG_BYTES_MAX), config, sources);
}

function runInit(flags: FetchFlags, by: FetchSettings): void {
  const contact = contactOf(flags);
  const { sources = SOURCES, env, clock } = by;
  const all = sources.map((source) => ({ source, entities: [], everyMs: everyMsOf(source) }));
  const doubts = sources.flatMap(({ id, row }) => {
    const doubt = row === null ? null : saleDoubt(row);
    return doubt === null ? [] : [[id, doubt] as const];
  });
  const asked = refusalsOf(all, { contact, env, now: clock.now() });
  const refusals = new Map([...doubts, ...asked]);
  const usable = sources.filter(({ id }) => !refusals.has(id));
  const named = Object.fromEntries(usable.map(({ id }) => [id, {}] as const));
  writeFileSync(flags.config, `${JSON.stringify({ sources: named }, null, 2)}\n`, { flag: 'wx' });
  by.print(`Wrote "${flags.config}" with ${usable.length} sources`);
  for (const [id, why] of refusals) by.print(`  left out ${id}: ${why}`);
}

function runCheck(flags: FetchFlags, by: FetchSettings): void {
  const { wanted } = configOf(flags, by);
  const { env, clock } = by;
  const refusals = refusalsOf(wanted, { contact: contactOf(flags), env, now: clock.now() });
  // What a configuration fetches, and what stands against it.
  const head = ['source', 'every', 'entities', 'state'];
  const rows = wanted.map(({ source: { id }, entities, everyMs }) => [
    id,
    durationText(everyMs),
    entities.length === 0 ? 'all that it knows' : String(entities.length),
    refusals.get(id) ?? 'ok',
  ]);
  by.print(tableText([head, ...rows]));
  for (const text of overAsked(wanted, { contact: contactOf(flags), env, now: clock.now() })) {
    by.print(text);
  }
  // What nobody fetches matters only where it ended or may not be sold: it may be why.
  const own = new Map(wanted.map(({ source }) => [source.id, source.row] as const));
  for (const { id, row } of by.sources ?? SOURCES) {
    const known = own.get(id) ?? row;
    const told = known === null ? [] : noticesOf(known, clock.now());
    const shown = told.filter(({ about }) => own.has(id) || about === 'end' || about === 'sale');
    for (const { text } of shown) by.print(`${id}: ${text}`);
  }
  if (refusals.size > 0) by.exit(RUN_EXIT.failed);
}
