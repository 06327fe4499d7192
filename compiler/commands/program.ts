import { Command, Help } from 'commander';
import { addExamples, EXIT_CODES, type Examples } from './command-examples.ts';

/** A command of the program. */
export interface CommandRow {
  /** Name, options and arguments, as the list of commands shows them. */
  readonly usage: string;
  readonly about: string;
  /** Loads what the command needs, and adds its options, arguments, subcommands and action. */
  readonly define: (command: Command) => Promise<void>;
  /** Examples of subcommands that only their own code can list. */
  readonly examples?: () => Promise<Examples>;
}

/** Every command by name, and the one that the arguments ask for with all of its code: loading the others takes time. */
export async function programOf(
  rows: readonly CommandRow[],
  { version, args }: { readonly version: string; readonly args: readonly string[] },
): Promise<Command> {
  const usages = new Map<Command, string>();
  const program = new Command('signalpress')
    .description('Compiles official readings into signed files that anybody can verify offline')
    .version(version, '-V, --version', 'print the version')
    .showHelpAfterError()
    .configureHelp({
      subcommandTerm: (command) =>
        usages.get(command) ?? Help.prototype.subcommandTerm.call(new Help(), command),
    })
    .addHelpText('after', `\n${EXIT_CODES}`);
  const asked = commandAsked(args);
  for (const { usage, about, define, examples } of rows) {
    const [name = ''] = usage.split(' ');
    const command = program.command(name).description(about);
    usages.set(command, usage);
    if (name !== asked) continue;
    await define(command);
    addExamples(command, await examples?.());
  }
  return program;
}

/** The name of the command that arguments begin with; undefined where there is none. */
function commandAsked(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
