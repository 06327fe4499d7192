import { randomBytes } from 'node:crypto';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { addAnchorCommand } from './anchor/anchor-command.ts';
import { addExamples } from './commands/command-examples.ts';
import { errorText } from './commands/error-text.ts';
import { outliveReader } from './commands/gone-reader.ts';
import { issueReceipt, RECEIPT_SECONDS } from './commands/issue-receipt.ts';
import { linesText } from './commands/lines-command.ts';
import { memoryFile } from './commands/memory-file.ts';
import { progressReporter, summaryText, verifyProgress } from './commands/progress.ts';
import { ACCEPT_CLOCK, instant, publicationTime } from './commands/publication-time.ts';
import { addReleasesCommand } from './commands/releases-cli.ts';
import { repeated } from './commands/repeated.ts';
import { KEEP_DAYS, KEEP_LAST, type RetentionFlags, retentionOf } from './commands/retention.ts';
import { statsText } from './commands/stats-command.ts';
import { type CompileOptions, compile } from './compile.ts';
import { logOrigin } from './contract/checkpoint.ts';
import { isoTime } from './contract/iso-time.ts';
import { keepPayload } from './evidence/keep-payload.ts';
import { addReplayCommand } from './evidence/replay-command.ts';
import { EVIDENCE_HELP, runVerifyEvidence } from './evidence/verify-evidence.ts';
import { openArchive } from './fetch/archive.ts';
import { systemClock } from './fetch/clock.ts';
import { addFetchCommands } from './fetch/fetch-cli.ts';
import {
  givenPayload,
  type ImportOptions,
  importSummaryText,
  runImport,
} from './import/import-command.ts';
import { importDisk } from './import/import-disk.ts';
import { SOURCES } from './import/sources.ts';
import { tableSource } from './import/table/table-source.ts';
import { readIssuerKey, writeIssuerKey } from './keys/issuer-key.ts';
import { addKeyCommand } from './keys/key-cli.ts';
import type { ReadBack } from './stages/publish/read-back.ts';
import { addPublishCommand } from './upload/upload-cli.ts';
import { readPlain } from './verify/plain-file.ts';
import { runVerify, VERIFY_HELP } from './verify/verify-command.ts';
import { runVerifyLog } from './verify/verify-log-command.ts';
import { EXIT, type VerifyOutcome } from './verify/verify-outcome.ts';

const PACKAGE_BYTES_MAX = 65_536;
/** More workers than this only share the disk. */
const WORKERS_MAX = 8;
/** A file of which more is bad, of a million lines, is not a file with some bad lines. */
const MAX_REJECTS_PPM = 500_000;

interface CompileFlags extends RetentionFlags {
  readonly snapshots: string;
  readonly data: string;
  readonly key?: string;
  readonly issuerName: string;
  readonly baseUrl: string;
  readonly asOf?: string;
  readonly acceptClock?: string;
  readonly validUntil?: string;
  readonly contact?: string;
  readonly workers: string;
  readonly full?: boolean;
  readonly verify: string;
  readonly allowShrink?: boolean;
  readonly maxRejects: string;
}

type ImportFlags = Omit<ImportOptions, 'source' | 'file'> & { readonly archive?: string };

const program = new Command('signalpress')
  .description('Compiles official readings into signed files that anybody can verify offline')
  .version(packageVersion(), '-V, --version', 'print the version')
  .showHelpAfterError();

/** Options of the commands that publish a release of what is stored in a folder. */
function withCompileOptions(command: Command, snapshots = 'snapshots'): Command {
  return command
    .option('--snapshots <folder>', 'folder of batches', snapshots)
    .option('--data <folder>', 'folder of releases', process.env.SIGNALPRESS_DATA ?? 'dist-data')
    .option('--key <file>', 'issuer key file (or SIGNALPRESS_ISSUER_KEY)')
    .option(
      '--issuer-name <name>',
      'issuer in citations',
      process.env.SIGNALPRESS_ISSUER_NAME ?? 'Signalpress',
    )
    .option(
      '--base-url <url>',
      'public address',
      process.env.SIGNALPRESS_BASE_URL ?? 'http://127.0.0.1:4021',
    )
    .option(
      '--contact <uri>',
      'mailto: or https address shown in the published descriptions, and to agencies',
      process.env.SIGNALPRESS_CONTACT,
    )
    .option(
      '--verify <how>',
      'how much is read back and verified before it is published: sample or full',
      'sample',
    )
    .option('--allow-shrink', 'publish even if a signal lost many of its entities or readings')
    .option(
      '--max-rejects <share>',
      'largest share of bad lines to leave out of each file, such as 0.5%',
      '0%',
    )
    .option('--workers <count>', 'worker threads, 0 for none', String(defaultWorkers()))
    .option(...KEEP_LAST)
    .option(...KEEP_DAYS);
}

withCompileOptions(program.command('compile'))
  .description('turn stored snapshots into one new signed release')
  .option('--as-of <time>', 'the time that the release describes (default: now)')
  .option(...ACCEPT_CLOCK)
  .option('--valid-until <time>', 'when readers should look for a newer release (default: never)')
  .option('--full', 'rebuild everything, ignoring what earlier compiles remembered')
  .action(runCompile);

addFetchCommands(program, {
  version: packageVersion(),
  clock: systemClock(() => Date.now(), Math.random),
  env: (name) => process.env[name],
  print: (text) => console.log(text),
  exit: (code) => {
    process.exitCode = code;
  },
  onStop,
  errorText,
  withCompileOptions,
  compiler: (flags) => {
    // What is wrong with the flags is said before anybody is asked.
    compileOptions(flags as CompileFlags);
    return async () => (await compile(compileOptions(flags as CompileFlags))).release.sequence;
  },
});

const importer = program
  .command('import')
  .description('turn an official payload, exactly as the agency answered, into a snapshot batch');

/** A command that imports a payload, with what all of them take. */
function addImporter(id: string, description: string): Command {
  return importer
    .command(id)
    .description(description)
    .argument('<file>', 'file with the payload')
    .option('--note <file>', 'fetch note: {"url", "fetched_at", "http_status"}')
    .option('--fetched-at <time>', 'time of the fetch, instead of a note')
    .option('--out <folder>', 'folder of batches', 'snapshots');
}

for (const { id, agency } of SOURCES) {
  addImporter(id, `import a payload of ${agency}`)
    .option('--archive <folder>', 'keep the payload there, to lead readings back to it')
    .action(async (file: string, { archive, ...flags }: ImportFlags) => {
      const options = { source: id, file, ...flags };
      console.log(importSummaryText(runImport(options, importDisk)));
      if (archive === undefined) return;
      await keepPayload(openArchive(archive), id, givenPayload(options, importDisk));
    });
}
for (const format of ['csv', 'json'] as const) {
  addImporter(format, `import any other table in ${format.toUpperCase()}, by a map of its columns`)
    .requiredOption('--map <file>', 'what its columns are: compiler/import/README.md')
    .action((file: string, { map, ...flags }: ImportFlags & { readonly map: string }) => {
      const source = tableSource(format, { bytes: importDisk.readFile(map), file: map });
      console.log(importSummaryText(runImport({ source, file, ...flags }, importDisk)));
    });
}

program
  .command('verify')
  .description('re-derive every hash and signature of a body or of a whole release, offline')
  .argument('<target>', 'a saved body, a release or data folder, or - for standard input')
  .option('--issuer <did>', 'an issuer you trust, did:key:z6Mk…; may be repeated', repeated)
  .option('--keys <path>', 'list of issuer keys, or a release folder with its list and its log')
  .option('--json', 'print the report as JSON')
  .option('--log', 'verify the transparency log of a release instead of its bodies')
  .option('--since <file>', 'with --log: a checkpoint saved earlier; the log must extend it')
  .option(
    '--remember <file>',
    'file that remembers what was verified, to notice older, forked and stale releases',
  )
  .option('--archive <folder>', 'lead each reading of a body back to the payload in this archive')
  .option('--independent', 'also check signatures with code that the signer does not use (slower)')
  .option('--workers <count>', 'worker threads for a release, 0 for none', String(defaultWorkers()))
  .addHelpText('after', `\n${VERIFY_HELP}${EVIDENCE_HELP}`)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? exitCode : EXIT.undecided))
  .action(runVerifyCommand);

addReplayCommand(program, {
  print: (text) => console.log(text),
  exit: (code) => {
    process.exitCode = code;
  },
});

addAnchorCommand(program, {
  data: process.env.SIGNALPRESS_DATA ?? 'dist-data',
  now,
  print: (text) => console.log(text),
  fail: () => {
    process.exitCode = 1;
  },
});

addReleasesCommand(program, {
  data: process.env.SIGNALPRESS_DATA ?? 'dist-data',
  now: () => Date.now(),
  seed: (key) => readIssuerKey(key ?? process.env.SIGNALPRESS_ISSUER_KEY),
  print: (text) => console.log(text),
});

addPublishCommand(program, {
  data: process.env.SIGNALPRESS_DATA ?? 'dist-data',
  env: (name) => process.env[name],
  print: (text) => console.log(text),
  screen: process.stderr,
  clock: Date.now,
});

program
  .command('stats')
  .description('how large what in the data folder is, and how fast it grows')
  .option('--data <folder>', 'folder of releases', process.env.SIGNALPRESS_DATA ?? 'dist-data')
  .action(({ data }: { readonly data: string }) => console.log(statsText(data)));

addKeyCommand(program, {
  data: process.env.SIGNALPRESS_DATA ?? 'dist-data',
  now,
  seed: (key, option) => readIssuerKey(key ?? process.env.SIGNALPRESS_ISSUER_KEY, option),
  instant: (option, text) => instant(option, text, now()),
  print: (text) => console.log(text),
});

program
  .command('keygen')
  .description('make an issuer key, readable by its owner only')
  .argument('[file]', 'where to write it', 'issuer.key')
  .action((file: string) => {
    console.log(`Issuer ${writeIssuerKey(file)}\nKey file "${file}": keep it secret, keep a copy`);
  });

program
  .command('receipt')
  .description(
    'sign receipts for the fiat channel, for tests and for operators who are their own processor',
  )
  .command('issue')
  .description('sign a receipt for one request, price and fee paid; send it as X-RECEIPT')
  .argument('<target>', 'path and query of the request that was paid')
  .requiredOption('--key <file>', 'key file of the processor; make one with keygen')
  .option('--seconds <count>', 'how long the receipt stays valid', String(RECEIPT_SECONDS))
  .action((target: string, flags: { readonly key: string; readonly seconds: string }) => {
    const seed = readIssuerKey(flags.key);
    const seconds = Number(flags.seconds);
    console.log(issueReceipt({ target, seed, now: Date.now(), random: randomBytes, seconds }));
  });

program
  .command('lines')
  .description(
    'show what snapshots may hold: signals, metrics, bands, entities, and an example line',
  )
  .argument('[id]', 'a line, a signal or a collection')
  .action((id: string | undefined) => console.log(linesText(id)));

addExamples(program);

/** Of the package that the build stands in. */
function packageVersion(): string {
  const path = fileURLToPath(new URL('../../package.json', import.meta.url));
  return String(JSON.parse(readPlain(path, PACKAGE_BYTES_MAX).toString('utf8')).version);
}

function defaultWorkers(): number {
  return Math.min(WORKERS_MAX, cpus().length);
}

async function runCompile(flags: CompileFlags): Promise<void> {
  const started = performance.now();
  const options = compileOptions(flags);
  const progress = progressReporter(process.stderr);
  try {
    const summary = await compile({ ...options, progress: progress.step });
    progress.done();
    console.log(summaryText(summary, performance.now() - started));
  } catch (error) {
    progress.done();
    throw error;
  }
}

function compileOptions(flags: CompileFlags): CompileOptions {
  const time = publicationTime(flags, Date.now());
  return {
    snapshots: flags.snapshots,
    data: flags.data,
    ...time,
    ...(flags.validUntil === undefined
      ? {}
      : { validUntil: instant('--valid-until', flags.validUntil, time.asOf) }),
    issuerName: issuerName(flags.issuerName),
    baseUrl: baseUrl(flags.baseUrl),
    contact: contact(flags.contact),
    seed: readIssuerKey(flags.key ?? process.env.SIGNALPRESS_ISSUER_KEY),
    workers: workerCount(flags.workers),
    full: flags.full === true,
    readBack: readBackOf(flags.verify),
    allowShrink: flags.allowShrink === true,
    maxRejectsPpm: rejectsPpm(flags.maxRejects),
    retention: retentionOf(flags),
  };
}

/** Lets a command end cleanly when the process is told to; a second signal ends it at once. */
function onStop(stop: () => void): () => void {
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  return () => {
    process.off('SIGTERM', stop);
    process.off('SIGINT', stop);
  };
}

interface VerifyFlags {
  readonly issuer?: readonly string[];
  readonly keys?: string;
  readonly json?: boolean;
  readonly log?: boolean;
  readonly since?: string;
  readonly remember?: string;
  readonly independent?: boolean;
  readonly archive?: string;
  readonly workers: string;
}

/** Misuse is not a verdict: a script must not mistake it for an altered body. */
async function runVerifyCommand(target: string, flags: VerifyFlags): Promise<void> {
  try {
    const { exitCode, text } = await verified(target, flags);
    process.stdout.write(text);
    process.exitCode = exitCode;
  } catch (error) {
    console.error(errorText(error));
    process.exitCode = EXIT.undecided;
  }
}

async function verified(target: string, flags: VerifyFlags): Promise<VerifyOutcome> {
  const { remember, workers, archive, ...rest } = flags;
  if (flags.since !== undefined && flags.log !== true) {
    throw new RangeError('Cannot use --since without --log: it concerns the log; pass --log too');
  }
  if (remember !== undefined && flags.log === true) {
    throw new RangeError('Cannot use --remember with --log: it concerns releases; leave --log out');
  }
  if (archive !== undefined && flags.log === true) {
    throw new RangeError('Cannot use --archive with --log: it is about one body; leave --log out');
  }
  const memory = remember === undefined ? {} : { memory: memoryFile(remember) };
  if (flags.log === true) return runVerifyLog(target, rest);
  const options = {
    ...rest,
    ...memory,
    now: Date.now(),
    workers: workerCount(workers),
    progress: verifyProgress(process.stderr, Date.now),
  };
  if (archive === undefined) return runVerify(target, options);
  return runVerifyEvidence(target, { ...options, archive });
}

function contact(uri: string | undefined): string | null {
  if (uri === undefined || uri === '') return null;
  if (/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(uri)) return uri;
  throw new Error(`Cannot name contact "${uri}": not an address such as mailto:ops@example.org`);
}

function now(): string {
  return isoTime(Date.now());
}

function issuerName(text: string): string {
  if (text.trim() === '') {
    throw new RangeError(
      'Cannot publish without an issuer name: --issuer-name is empty; give a name',
    );
  }
  if (!/\p{Cc}/u.test(text)) return text;
  throw new RangeError(
    `Cannot publish as ${JSON.stringify(text)}: a control character in --issuer-name; give a name of one line`,
  );
}

function baseUrl(text: string): string {
  // A browser takes "https:/host" too, but a buyer compares addresses as they are written.
  if (!URL.canParse(text) || !/^https?:\/\/[^/]\S*$/.test(text)) {
    throw new RangeError(
      `Cannot publish at "${text}": not an http or https address; write it as https://signals.example.org`,
    );
  }
  const { username, password, origin } = new URL(text);
  if (username !== '' || password !== '' || /[?#]/.test(text)) {
    throw new RangeError(
      `Cannot publish at "${origin}": a user, password, query or fragment in --base-url would appear in every citation; leave it out`,
    );
  }
  const address = text.replace(/\/+$/, '');
  // Every release has a log, which must be able to bear the name of the address.
  logOrigin(address);
  return address;
}

function readBackOf(text: string): ReadBack {
  if (text === 'sample' || text === 'full') return text;
  throw new RangeError(`Cannot use --verify "${text}": neither sample nor full`);
}

function rejectsPpm(text: string): number {
  const [, percent] = /^(\d{1,2}(?:\.\d{1,4})?)%$/.exec(text) ?? [];
  const ppm = Math.round(Number(percent) * 10_000);
  if (ppm >= 0 && ppm <= MAX_REJECTS_PPM) return ppm;
  throw new RangeError(
    `Cannot use --max-rejects "${text}": not a share from 0% to 50%; pass one such as 0.5%`,
  );
}

function workerCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= WORKERS_MAX) return count;
  throw new RangeError(
    `Cannot use --workers "${text}": not a whole number from 0 to ${WORKERS_MAX}`,
  );
}

outliveReader(process.stdout, process.stderr);
program.parseAsync().catch((error: unknown) => {
  console.error(errorText(error));
  process.exitCode = 1;
});
