import { join } from 'node:path';
import type { FetchSettings } from '../sources/fetch/fetch-cli.ts';
import type { CommandSettings } from '../system/command-settings.ts';
import { coloured, errorText, outliveReader } from '../system/error-text.ts';
import { PACKAGE_FOLDER } from '../system/package-folder.ts';
import { readPlain } from '../system/plain-file.ts';
import type { CompileFlags } from './compile-options.ts';
import { type CommandRow, programOf } from './program.ts';

const PACKAGE_BYTES_MAX = 65_536;

// The commands of `signalpress`. A start loads the code of the one command that is asked for.

const SETTINGS: CommandSettings = {
  version: packageVersion(),
  env: (name) => process.env[name],
  now: () => Date.now(),
  print: (text) => console.log(text),
  screen: process.stderr,
  exit: (code) => {
    process.exitCode = code;
  },
  onStop,
};

const COMMANDS: readonly CommandRow[] = [
  {
    usage: 'compile [options]',
    group: 'Make a release',
    about: 'turn stored snapshots into one new signed release',
    define: async (command) => (await import('./compile-cli.ts')).defineCompile(command, SETTINGS),
  },
  {
    usage: 'fetch [options] <source...>',
    group: 'Ask agencies',
    about: 'ask agencies for their newest payloads, archive them, and import them into batches',
    define: async (command) =>
      (await import('../sources/fetch/fetch-cli.ts')).defineFetch(command, await fetchSettings()),
  },
  {
    usage: 'run [options]',
    group: 'Ask agencies',
    about: 'fetch what is due, import it and publish a release, again and again',
    define: async (command) =>
      (await import('../sources/fetch/fetch-cli.ts')).defineRun(command, await fetchSettings()),
  },
  {
    usage: 'sources',
    group: 'Ask agencies',
    about: 'official sources and their configuration',
    define: async (command) =>
      (await import('../sources/fetch/fetch-cli.ts')).defineSources(command, await fetchSettings()),
  },
  {
    usage: 'import',
    group: 'Ask agencies',
    about: 'turn an official payload, exactly as the agency answered, into a snapshot batch',
    define: async (command) => (await import('./import-cli.ts')).defineImport(command, SETTINGS),
    examples: async () => (await import('./import-cli.ts')).importExamples(),
  },
  {
    usage: 'verify [options] <target>',
    group: 'Judge and buy',
    about: 're-derive every hash and signature of a body or of a whole release, offline',
    define: defineVerify,
  },
  {
    usage: 'trust',
    group: 'Judge and buy',
    about: 'write down whom you trust, for every command that judges or buys',
    define: async (command) => {
      const { systemClock } = await import('../system/clock.ts');
      const { defineTrust } = await import('./trust-command.ts');
      const clock = systemClock(SETTINGS.now, Math.random);
      const confirm = process.stdin.isTTY ? askedAtTerminal : null;
      defineTrust(command, { ...SETTINGS, clock, fetch, confirm });
    },
  },
  {
    usage: 'monitor [options] <url> [evidence]',
    group: 'Judge and buy',
    about: 'follow the log of a service from outside, and keep proof of what is wrong with it',
    define: async (command) => {
      const { systemClock } = await import('../system/clock.ts');
      const clock = systemClock(SETTINGS.now, Math.random);
      const { defineMonitor } = await import('../verify/monitor/monitor-command.ts');
      defineMonitor(command, { ...SETTINGS, clock, fetch });
    },
  },
  {
    usage: 'replay [options]',
    group: 'Ask agencies',
    about: 'import the archive again and compare what comes out with the stored snapshots',
    define: async (command) =>
      (await import('../publish/evidence/replay.ts')).defineReplay(command, SETTINGS),
  },
  {
    usage: 'anchor',
    group: 'Keys and log',
    about:
      'timestamp the roots of the log with OpenTimestamps; the next compile publishes the result',
    define: async (command) =>
      (await import('../publish/anchor/anchor-command.ts')).defineAnchor(command, SETTINGS),
  },
  {
    usage: 'witness',
    group: 'Keys and log',
    about: 'have the log cosigned by witnesses',
    define: async (command) =>
      (await import('../publish/witness/witness-cli.ts')).defineWitness(command, SETTINGS),
  },
  {
    usage: 'releases',
    group: 'Look after releases',
    about: 'list, compare, roll back and prune releases',
    define: async (command) =>
      (await import('./releases-command.ts')).defineReleases(command, SETTINGS),
  },
  {
    usage: 'publish [options]',
    group: 'Look after releases',
    about: 'copy the current release to a folder or a static host that gatekeepers read',
    define: async (command) => (await import('./upload-cli.ts')).definePublish(command, SETTINGS),
  },
  {
    usage: 'adopt [options] <from>',
    group: 'Look after releases',
    about:
      'take the log back from the shop, a static host or a mirror, where the data folder lost it',
    define: async (command) =>
      (await import('../publish/mirror/keep-command.ts')).defineAdopt(command, SETTINGS),
  },
  {
    usage: 'backup [options] <folder>',
    group: 'Look after releases',
    about: 'copy the current release, the log and the keys, and say what else to keep',
    define: async (command) =>
      (await import('../publish/mirror/keep-command.ts')).defineBackup(command, SETTINGS),
  },
  {
    usage: 'restore [options] <folder>',
    group: 'Look after releases',
    about: 'put a backup into an empty data folder',
    define: async (command) =>
      (await import('../publish/mirror/keep-command.ts')).defineRestore(command, SETTINGS),
  },
  {
    usage: 'stats [options]',
    group: 'Look after releases',
    about: 'how large what in the data folder is, and how fast it grows',
    define: async (command) => (await import('./stats-command.ts')).defineStats(command, SETTINGS),
  },
  {
    usage: 'key',
    group: 'Keys and log',
    about: 'list, rotate and revoke issuer keys',
    define: async (command) => (await import('./key-cli.ts')).defineKey(command, SETTINGS),
  },
  {
    usage: 'root',
    group: 'Keys and log',
    about: 'put the issuer keys under offline root keys, which name the next ones',
    define: async (command) => (await import('./key-cli.ts')).defineRoot(command, SETTINGS),
  },
  {
    usage: 'keygen [file]',
    group: 'Keys and log',
    about: 'make an issuer key, readable by its owner only',
    define: async (command) => (await import('./key-cli.ts')).defineKeygen(command, SETTINGS),
  },
  {
    usage: 'receipt',
    group: 'Keys and log',
    about:
      'sign receipts for the fiat channel, for tests and for operators who are their own processor',
    define: async (command) =>
      (await import('./issue-receipt.ts')).defineReceipt(command, SETTINGS),
  },
  {
    usage: 'init [options] <folder>',
    group: 'Make a release',
    about: 'make a shop of your own: a catalogue with one line, readings, settings and a note',
    define: async (command) => (await import('./init-command.ts')).defineInit(command, SETTINGS),
  },
  {
    usage: 'buy [options] <url>',
    group: 'Judge and buy',
    about: 'buy one answer from a shop, at most at your price, and print it',
    define: async (command) => (await import('./buy-command.ts')).defineBuy(command, SETTINGS),
  },
  {
    usage: 'mcp [options]',
    group: 'Judge and buy',
    about: 'give an agent on this machine tools that search, quote, buy with a cap, and verify',
    define: async (command) => (await import('./mcp-command.ts')).defineMcp(command, SETTINGS),
  },
  {
    usage: 'check [options]',
    group: 'Make a release',
    about: 'judge catalogue and snapshots as a compile would: no key is needed, nothing is written',
    define: async (command) => (await import('./check.ts')).defineCheck(command, SETTINGS),
  },
  {
    usage: 'lines [options] [id]',
    group: 'Make a release',
    about: 'show what snapshots may hold: signals, metrics, bands, entities, and an example line',
    define: async (command) => (await import('./lines-command.ts')).defineLines(command, SETTINGS),
  },
  {
    usage: 'completion',
    group: 'This program',
    about: 'let a shell complete commands and options',
    define: async (command) => {
      const whole = () => programOf(COMMANDS, { version: SETTINGS.version, args: null });
      (await import('./completion.ts')).defineCompletion(command, { ...SETTINGS, whole });
    },
  },
];

async function defineVerify(command: Parameters<CommandRow['define']>[0]): Promise<void> {
  const { defineVerify } = await import('./verify-cli.ts');
  defineVerify(command, {
    ...SETTINGS,
    write: (text) => {
      process.stdout.write(coloured(text, process.stdout));
    },
    complain: (text) => console.error(coloured(text, process.stderr)),
    fetch,
    end: (code) => process.exit(code),
  });
}

async function askedAtTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

async function fetchSettings(): Promise<FetchSettings> {
  const { compileOptions, warnOfForgetting, withCompileOptions } = await import(
    './compile-options.ts'
  );
  const { askAfter } = await import('../publish/witness/ask-after.ts');
  const { systemClock } = await import('../system/clock.ts');
  return {
    ...SETTINGS,
    clock: systemClock(SETTINGS.now, Math.random),
    errorText,
    withCompileOptions: (command, snapshots) => withCompileOptions(command, snapshots, SETTINGS),
    compiler: (flags) => {
      // What is wrong with the flags is said before anybody is asked.
      warnOfForgetting(compileOptions(flags as CompileFlags, SETTINGS), SETTINGS.screen);
      const { ask, askAgain } = askAfter(flags as CompileFlags, SETTINGS);
      // Once, not with each release.
      const warned = new Set<string>();
      const publish = async (): Promise<number> => {
        const { compile } = await import('./compile.ts');
        const options = compileOptions(flags as CompileFlags, SETTINGS);
        const { release, keyWarnings } = await compile(options);
        for (const line of keyWarnings) if (!warned.has(line)) SETTINGS.print(line);
        for (const line of keyWarnings) warned.add(line);
        await ask();
        return release.sequence;
      };
      return { publish, askAgain };
    },
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

function packageVersion(): string {
  const bytes = readPlain(join(PACKAGE_FOLDER, 'package.json'), PACKAGE_BYTES_MAX);
  return String(JSON.parse(bytes.toString('utf8')).version);
}

async function main(args: readonly string[]): Promise<void> {
  const program = await programOf(COMMANDS, { version: SETTINGS.version, args });
  await program.parseAsync(args, { from: 'user' });
}

outliveReader(process.stdout, process.stderr);
main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(coloured(errorText(error), process.stderr));
  process.exitCode = 1;
});
