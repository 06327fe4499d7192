import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { importDisk } from '../import/import-disk.ts';
import { PAYLOAD_BYTES_MAX } from '../import/payload.ts';
import type { Source } from '../import/source.ts';
import { SOURCES, sourceOf } from '../import/sources.ts';
import { lockData } from '../stages/publish/data-lock.ts';
import { readPlain } from '../verify/plain-file.ts';
import { archiveFolder, openArchive, READINGS_FOLDER } from './archive.ts';
import { type Clock, DURATION_WORDS, durationMs, Pace } from './clock.ts';
import { runLoop } from './run-loop.ts';
import { exitCodeOf, RUN_EXIT, statusTable, stepText } from './run-report.ts';
import { checkText, listText, refusalsOf } from './source-lists.ts';
import {
  CONFIG_BYTES_MAX,
  configText,
  everyMsOf,
  parseConfig,
  SOURCES_FILE,
  type SourcesConfig,
  type WantedSource,
} from './sources-config.ts';
import { SourcesRunner, type StepReport } from './sources-runner.ts';

/** Flags that every command with an archive has. */
interface FetchFlags {
  readonly snapshots: string;
  readonly archive?: string;
  readonly status?: string;
  readonly config: string;
  readonly contact?: string;
}

/** What the commands need of the world. */
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
  readonly compiler: (flags: unknown) => Publisher;
  readonly sources?: readonly Source[];
}

interface Publisher {
  /** Publishes, and tells the number of the release. */
  readonly publish: () => Promise<number>;
  /** Asks those witnesses again that did not answer. */
  readonly askAgain: () => Promise<void>;
}

const ARCHIVE = [
  '--archive <folder>',
  'folder of payloads (default: archive below the batches)',
] as const;
const STATUS = ['--status <file>', 'status file (default: status.json in the archive)'] as const;
const CONFIG = ['--config <file>', 'what to fetch', SOURCES_FILE] as const;

/** Defines `fetch`. */
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

/** Defines `run`. */
export function defineRun(command: Command, by: FetchSettings): void {
  by.withCompileOptions(command, READINGS_FOLDER)
    .option('--once', 'do what is due now and end, for cron')
    .option(...ARCHIVE)
    .option(...STATUS)
    .option(...CONFIG)
    .action((flags: RunFlags) => runRun(flags, by));
}

/** Defines `sources list|init|check`. */
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
    .description('check the configuration; sends no request')
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
    if (flags.every === undefined) return onStep(await runner.step({ isForced: true }));
    // The first time everything is fetched, then what is due.
    onStep(await runner.step({ isForced: true }));
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

interface Running {
  readonly flags: FetchFlags;
  readonly by: FetchSettings;
  readonly compile: (() => Promise<number>) | null;
}

async function withRunner(
  { wanted, origins }: SourcesConfig,
  { flags, by, compile }: Running,
  use: (running: { readonly runner: SourcesRunner; readonly signal: AbortSignal }) => Promise<void>,
): Promise<void> {
  // undici costs each start of the program 70 ms, and a compile asks nobody.
  const { agencyClient, TIMEOUTS } = await import('./agency-client.ts');
  const folder = flags.archive ?? archiveFolder(flags.snapshots);
  const contact = contactOf(flags);
  const unlock = lockData(folder);
  const stop = new AbortController();
  const forget = by.onStop(() => stop.abort());
  const archive = openArchive(folder);
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
  const refusals = refusalsOf(all, { contact, env, now: clock.now() });
  const usable = sources.filter(({ id }) => !refusals.has(id));
  writeFileSync(flags.config, configText(usable), { flag: 'wx' });
  by.print(`Wrote "${flags.config}" with ${usable.length} sources`);
  for (const [id, why] of refusals) by.print(`  left out ${id}: ${why}`);
}

function runCheck(flags: FetchFlags, by: FetchSettings): void {
  const { wanted } = configOf(flags, by);
  const { env, clock } = by;
  const refusals = refusalsOf(wanted, { contact: contactOf(flags), env, now: clock.now() });
  by.print(checkText(wanted, refusals));
  if (refusals.size > 0) by.exit(RUN_EXIT.failed);
}
