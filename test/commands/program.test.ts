import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type CommandRow, programOf } from '../../compiler/commands/program.ts';
import { CommandRuns } from '../command-runs.ts';

const loaded: string[] = [];
const row = (usage: string): CommandRow => ({
  usage,
  about: `does ${usage}`,
  define: async (command) => {
    loaded.push(usage);
    command.option('--data <folder>', 'folder of releases');
  },
});
const ROWS = [row('stats [options]'), row('replay [options]')];

async function loadedBy(...args: readonly string[]): Promise<string[]> {
  loaded.length = 0;
  await programOf(ROWS, { version: '1.2.3', args });
  return [...loaded];
}

describe('programOf()', () => {
  it('loads the one command that is asked for, for its help too', async () => {
    expect(await loadedBy('stats', '--data', 'replay')).toEqual(['stats [options]']);
    expect(await loadedBy('help', 'replay')).toEqual(['replay [options]']);
    expect(await loadedBy('--help', 'replay')).toEqual(['replay [options]']);
  });

  it('loads none where none is asked for, or one that there is not', async () => {
    for (const args of [[], ['--help'], ['--version'], ['help'], ['stat'], ['help', 'stat']]) {
      expect(await loadedBy(...args)).toEqual([]);
    }
  });

  it('lists every command with its usage, loaded or not, and knows a near miss', async () => {
    for (const args of [['--help'], ['stats']]) {
      const program = await programOf(ROWS, { version: '1.2.3', args });
      expect(program.helpInformation()).toMatch(
        /^ {2}stats \[options\] +does stats \[options\]\n {2}replay/m,
      );
    }
    const program = await programOf(ROWS, { version: '1.2.3', args: ['stat'] });
    const output: string[] = [];
    const quiet = { writeErr: (text: string) => void output.push(text) };
    const run = program
      .exitOverride()
      .configureOutput(quiet)
      .parseAsync(['stat'], { from: 'user' });
    await expect(run).rejects.toThrow('unknown command');
    expect(output.join('')).toContain('(Did you mean stats?)');
  });

  it('refuses a command without an example', async () => {
    const rows = [row('sell')];
    await expect(programOf(rows, { version: '1', args: ['sell'] })).rejects.toThrow('no example');
    expect(await programOf(rows, { version: '1', args: [] })).toBeInstanceOf(Command);
  });
});

describe('signalpress --help', () => {
  const NAMES =
    'compile fetch run sources import verify monitor replay anchor witness releases publish stats key root keygen receipt init buy check lines';
  const names = NAMES.split(' ');
  const commands = new CommandRuns();
  const listed = commands.plan(['--help']);
  const helped = names.map((name) => ({ name, ended: commands.plan([name, '--help']) }));

  it.each(helped)('lists $name as its own help shows it', ({ name, ended }) => {
    const list = listed().stdout;
    const own = ended().stdout;
    const [, usage = ''] =
      new RegExp(`^  (${name}\\b(?: [\\[<]\\S+)*)(?:  |\\n)`, 'm').exec(list) ?? [];
    const [first = ''] = own.split('\n');
    // A command with subcommands shows "[options] [command]", and every command has the option --help.
    const words = usage.split(' ').filter((word) => word !== '[options]');
    expect(first.replace(' [options]', '').replace(' [command]', '')).toBe(
      `Usage: signalpress ${words.join(' ')}`,
    );
    const options = own.match(/^ {2}(-\w, )?--\w/gm) ?? [];
    expect(usage.includes('[options]')).toBe(options.length > 1);
  });

  it('lists no other command', () => {
    const found = [...listed().stdout.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
    expect(found).toEqual([...names, 'help']);
  });
});
