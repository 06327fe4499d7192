import { parseArgs } from 'node:util';
import { nearest } from '../../compiler/contract/nearest.ts';
import { StartError } from '../system/start-error.ts';
import { envName, OPTION_NAMES, SETTING_NAMES } from './settings.ts';

/** Flags of all settings that the command line takes. */
export const FLAGS: readonly string[] = OPTION_NAMES.map(flagOf);

const SEE = 'see signalpress-gate --help';

/** What the command line asks for. */
interface CommandLine {
  readonly wants: 'start' | 'help' | 'version';
  /** Options by setting name. */
  readonly options: Readonly<Record<string, string>>;
}

/** Reads the command-line arguments; throws a StartError that names the wrong one. */
export function commandLine(args: readonly string[]): CommandLine {
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
  const options = Object.fromEntries(given.map(setting));
  if (stray === undefined) return { wants: 'start', options };
  throw new StartError(
    `Cannot read argument "${stray.value.slice(0, 40)}": it does not belong to a flag; ${SEE}`,
  );
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function setting({ name, rawName, value, inlineValue }: OptionToken): [string, string] {
  const flag = `Cannot read flag "${rawName.slice(0, 40)}"`;
  if (!FLAGS.includes(name)) throw new StartError(`${flag}: ${unknown(name)}`);
  // The next flag is not this one's value, but whatever follows "=" is.
  if (value === undefined || (inlineValue !== true && value.startsWith('-'))) {
    throw new StartError(`${flag}: it has no value; write ${rawName}=<value>`);
  }
  return [name.replaceAll('-', '_'), value];
}

function unknown(flag: string): string {
  const secret = SETTING_NAMES.find((name) => flagOf(name) === flag);
  if (secret !== undefined) {
    return `a secret cannot be a flag, because process lists show it; set ${envName(secret)}`;
  }
  const suggestion = nearest(flag, FLAGS);
  return `no such flag; ${suggestion === null ? SEE : `did you mean "--${suggestion}"?`}`;
}

function flagOf(name: string): string {
  return name.replaceAll('_', '-');
}
