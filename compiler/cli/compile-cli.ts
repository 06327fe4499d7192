import type { Command } from 'commander';
import { ACCEPT_CHANGES } from '../publish/refuse-changes.ts';
import { askAfter } from '../publish/witness/ask-after.ts';
import type { CommandSettings } from '../system/command-settings.ts';
import { compile } from './compile.ts';
import {
  ACCEPT_CLOCK,
  type CompileFlags,
  compileOptions,
  VALID_UNTIL,
  warnOfForgetting,
  withCompileOptions,
} from './compile-options.ts';
import { progressReporter, summaryText } from './progress.ts';

export function defineCompile(command: Command, settings: CommandSettings): void {
  withCompileOptions(command, 'snapshots', settings)
    .option('--as-of <time>', 'the time that the release describes (default: now)')
    .option(...ACCEPT_CLOCK)
    .option(...VALID_UNTIL)
    .option(ACCEPT_CHANGES, 'publish even if the catalogue changes what was sold')
    .option('--full', 'rebuild everything, ignoring what earlier compiles remembered')
    .action((flags: CompileFlags) => runCompile(flags, settings));
}

async function runCompile(flags: CompileFlags, settings: CommandSettings): Promise<void> {
  const started = performance.now();
  const options = compileOptions(flags, settings);
  const { ask } = askAfter(flags, settings);
  const progress = progressReporter(settings.screen, settings.now);
  try {
    const summary = await compile({ ...options, progress: progress.step });
    progress.done();
    settings.print(summaryText(summary, performance.now() - started));
    warnOfForgetting(options, settings.screen);
    await ask();
  } catch (error) {
    progress.done();
    throw error;
  }
}
