import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { Command } from 'commander';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { importExamples } from '../../compiler/cli/import-cli.ts';
import { addExamples, type CommandRow, programOf } from '../../compiler/cli/program.ts';
import { SOURCES } from '../../compiler/sources/sources.ts';
import { duration } from '../../compiler/system/command-settings.ts';
import { coloured, errorText, outliveReader } from '../../compiler/system/error-text.ts';
import { CommandRuns } from '../command-runs.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

const loaded: string[] = [];
const row = (usage: string): CommandRow => ({
  usage,
  about: `does ${usage}`,
  group: 'Judge and buy',
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

const HAS_ZSH = spawnSync('zsh', ['--version']).status === 0;
/** What an interactive zsh of a new account makes of lines that end with a tab: each arrives at a function that shows it. */
const ZSH = `
zmodload zsh/zpty
zpty shell TERM=dumb zsh -f -i
zpty -w shell 'PS1=; signalpress() { print -r -- "<$*>" }; source completion.zsh; print -r -- "<$((6*7))>"'
zpty -r shell seen '*<42>*'
for typed in "$@"; do
  zpty -w -n shell "signalpress $typed"$'\\t\\n'
  zpty -r shell seen $'*\\n*<*>*'
  print -r -- "\${\${seen##*\\<}%%\\>*}"
done`;

describe('signalpress --help', () => {
  const NAMES =
    'compile init check lines fetch run sources import replay verify trust monitor buy mcp releases publish adopt backup restore stats anchor witness key root keygen receipt completion';
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

  const wrong = commands.plan(['stats', '--nosuch']);
  const missing = commands.plan(['stats', '--data', '/none']);
  const inRed = commands.plan(['stats', '--data', '/none'], { env: { FORCE_COLOR: '1' } });
  const script = commands.plan(['completion', 'bash']);
  const zshScript = commands.plan(['completion', 'zsh']);
  const nowhere = commands.plan(['releases', 'list', '--json', '--data', '/none']);

  it('puts them in groups', () => {
    const groups = [...listed().stdout.matchAll(/^(\S.*):$/gm)].map(([, title]) => title);
    expect(groups).toEqual([
      'Options',
      'Make a release',
      'Ask agencies',
      'Judge and buy',
      'Look after releases',
      'Keys and log',
      'This program',
    ]);
  });

  it('answers a wrong option in two lines, without the help', () => {
    expect(wrong().stderr.trim().split(/\n+/)).toEqual([
      "error: unknown option '--nosuch'",
      'signalpress stats --help shows what it takes',
    ]);
    expect(wrong().status).toBe(1);
  });

  it('colours where it is told to, and nowhere else', () => {
    expect(missing().stderr).toMatch(/^Cannot measure/);
    const red = '\u001b[31mCannot\u001b[39m measure';
    expect(inRed().stderr.slice(0, red.length)).toBe(red);
  });

  it('prints JSON that a program can read, of an empty folder too', () => {
    expect(JSON.parse(nowhere().stdout)).toEqual([]);
  });

  it.each([
    [['rel'], 'releases'],
    [['releases', 'ro'], 'rollback'],
    [['--data', 'x', 'releases', 'list', '--j'], '--json'],
    [['stats', '--d'], '--data'],
    [['help', 'sta'], 'stats'],
    // What it does not know it does not complete.
    [['nosuch', '--d'], ''],
    [['releases', 'compi'], ''],
  ])('completes %j in bash with %j', (words, found) => {
    const asked = `COMP_WORDS=(signalpress ${words.join(' ')}); COMP_CWORD=${words.length}`;
    const text = `${script().stdout}\n${asked}; _signalpress; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc'], { input: text, encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual([found, '']);
  });

  it.skipIf(!HAS_ZSH)(
    'completes in zsh, files too, and nothing that it does not know (needs zsh)',
    () => {
      const cwd = makeFolder();
      writeFileSync(join(cwd, 'completion.zsh'), zshScript().stdout);
      writeFileSync(join(cwd, 'payload.json'), '');
      const lines = [
        ['rel', 'releases'],
        ['releases ro', 'releases rollback'],
        ['--data x releases list --j', '--data x releases list --json'],
        ['stats --d', 'stats --data'],
        ['help sta', 'help stats'],
        ['verify pay', 'verify payload.json'],
        ['nosuch --d', 'nosuch --d'],
        ['releases compi', 'releases compi'],
      ] as const;
      const args = ['-f', '-c', ZSH, 'zsh', ...lines.map(([typed]) => typed)];
      const env = { PATH: process.env.PATH, HOME: cwd };
      const { stdout } = spawnSync('zsh', args, { cwd, env, encoding: 'utf8', timeout: 60_000 });
      expect(stdout.trim().split('\n')).toEqual(lines.map(([, completed]) => completed));
    },
  );

  it('lists no other command', () => {
    const found = [...listed().stdout.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
    expect(found).toEqual([...names, 'help']);
  });
});

function helpOf(...words: readonly [string, ...string[]]): string {
  const program = new Command('signalpress');
  const shown: string[] = [];
  const leaf = words.reduce((parent, word) => parent.command(word), program);
  const top = program.commands[0] as Command;
  addExamples(top, importExamples());
  leaf.configureOutput({ writeOut: (text) => shown.push(text) }).outputHelp();
  return shown.join('');
}

describe('addExamples()', () => {
  it('puts examples and exit codes under the help of a command, at any depth', () => {
    expect(helpOf('keygen')).toContain('Examples:\n  signalpress keygen issuer.key\n');
    expect(helpOf('anchor', 'stamp')).toContain('Exit codes: 0 done; 1 refused');
  });

  it('says the exit codes of verify once, and those alone', () => {
    expect(helpOf('verify').split('Exit codes: 0 verified')).toHaveLength(2);
    expect(helpOf('verify')).not.toContain('Exit codes: 0 done');
  });

  it('puts exit codes under the help of a group of commands', () => {
    const group = new Command('anchor');
    group.command('stamp');
    addExamples(group);
    const shown: string[] = [];
    group.configureOutput({ writeOut: (text) => shown.push(text) }).outputHelp();
    expect(shown.join('')).toContain('Exit codes: 0 done');
  });

  it.each(SOURCES.map(({ id }) => id))('has an example for the import of %s', (id) => {
    expect(helpOf('import', id)).toContain(`Examples:\n  signalpress import ${id} `);
    expect(() => helpOf('import', `${id}-x`)).toThrow('it has no example');
  });

  it('does not let a command go without one', () => {
    expect(() => helpOf('sell')).toThrow('"sell": it has no example');
  });
});

describe('coloured()', () => {
  // Of an environment of the test's own: a service that runs the tests may say that it shows no colours.
  const terminal = (environment: NodeJS.ProcessEnv) =>
    Object.assign(new Writable(), {
      isTTY: true,
      getColorDepth: () => WriteStream.prototype.getColorDepth(environment),
    }) as unknown as NodeJS.WriteStream;

  it('colours a verdict on a terminal, and nothing with NO_COLOR', () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    const TERM = 'xterm-256color';
    expect(coloured('failed: it was altered', terminal({ TERM }))).toBe(
      '\u001b[31mfailed\u001b[39m: it was altered',
    );
    expect(coloured('  States: failed', terminal({ TERM }))).toBe('  States: failed');
    const plain = terminal({ TERM, NO_COLOR: '1' });
    expect(coloured('failed: it was altered', plain)).toBe('failed: it was altered');
    vi.unstubAllEnvs();
  });
});

describe('duration()', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '2', 'h', '2 h', '-1h', '1.5h', '2w', '2H', '1234567s', '2h30m'])(
    'refuses %j',
    (text) => {
      expect(() => duration(text)).toThrow('write it as 90s, 30m, 2h or 7d');
    },
  );
});

function failing(code: string): Writable {
  const output = new Writable();
  outliveReader(output);
  output.emit('error', Object.assign(new Error(`write ${code}`), { code }));
  return output;
}

describe('outliveReader()', () => {
  it('goes on when the reader is gone', () => {
    expect(() => failing('EPIPE')).not.toThrow();
  });

  it('does not when the text is lost for another reason', () => {
    expect(() => failing('ENOSPC')).toThrow('write ENOSPC');
  });
});

describe('errorText()', () => {
  afterAll(removeFolders);

  function stated(act: () => unknown): string {
    try {
      act();
    } catch (error) {
      return errorText(error);
    }
    return 'nothing';
  }

  it('says what the operating system could not do, with what, and what to do next', () => {
    const file = join(makeFolder(), 'data');
    writeFileSync(file, '');
    expect(stated(() => mkdirSync(join(file, 'x')))).toBe(
      `Cannot make folder "${join(file, 'x')}": a file stands where a folder is needed; name another place (ENOTDIR)`,
    );
    expect(stated(() => readdirSync(file))).toContain(`Cannot list "${file}": a file stands where`);
    expect(stated(() => readdirSync(`${file}2`))).toContain(
      'no such file or folder; correct the path',
    );
  });

  it('says of a full disk that nothing is lost, where no file is named', () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
    expect(errorText(full)).toMatch(/^Cannot write: no space left on the disk; make room and run/);
  });

  it('says of a file beyond the limit of the shell which limit that is', () => {
    const long = Object.assign(new Error('too large'), { code: 'EFBIG', syscall: 'write' });
    expect(errorText(long)).toMatch(
      /^Cannot write: the file is larger than .* "ulimit -f".*\(EFBIG\)$/,
    );
  });

  it.each([
    [
      'an error of ours',
      new RangeError('Cannot use "x": not a time'),
      'Cannot use "x": not a time',
    ],
    ['a code that it does not know', Object.assign(new Error('odd'), { code: 'EODD' }), 'odd'],
    ['our own code', Object.assign(new Error('ours'), { code: 'ENOENT' }), 'ours'],
    ['what is no error', 'text', 'text'],
  ])('leaves %s as it is', (_, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});
