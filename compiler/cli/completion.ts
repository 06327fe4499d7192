import type { Command } from 'commander';

/** Words that may follow each command, by its full name; '' is the program itself. */
function wordsByCommand(program: Command): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>();
  const add = (command: Command, name: string): void => {
    const below = command.commands.map((one) => one.name());
    const flags = command.options.flatMap(({ long }) => long ?? []);
    words.set(name, [...below, ...(name === '' ? ['help'] : []), ...flags, '--help']);
    for (const one of command.commands) add(one, `${name} ${one.name()}`.trim());
  };
  add(program, '');
  return words;
}

const SHELLS = {
  bash: {
    before: `\${COMP_WORDS[@]:1:COMP_CWORD-1}`,
    after: `COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    // File names, where no word fits.
    register: 'complete -o default -F _signalpress signalpress',
  },
  zsh: {
    before: `\${(@)words[2,CURRENT-1]}`,
    after: `compadd -- \${=found} || _files`,
    // A new account has no completion at all until compinit ran.
    register:
      '(( $+functions[compdef] )) || { autoload -Uz compinit; compinit -i; }\ncompdef _signalpress signalpress',
  },
} as const;

/** A shell script that completes commands and options; it runs nothing when it is asked. */
export function completionScript(program: Command, shell: keyof typeof SHELLS): string {
  const words = wordsByCommand(program);
  const { before, after, register } = SHELLS[shell];
  const known = [...words.keys()].filter((name) => name !== '').map((name) => `"${name}"`);
  return [
    `# source <(signalpress completion ${shell})`,
    '_signalpress() {',
    '  local at="" word found=""',
    `  for word in "${before}"; do`,
    `    case "\${at:+$at }$word" in ${known.join('|')}) at="\${at:+$at }$word" ;; esac`,
    '  done',
    '  case "$at" in',
    ...Array.from(words, ([name, list]) => `    "${name}") found="${list.join(' ')}" ;;`),
    '  esac',
    `  ${after}`,
    '}',
    register,
  ].join('\n');
}

/** `signalpress completion bash`; `whole` makes the program with all of its commands. */
export function defineCompletion(
  command: Command,
  { print, whole }: { print: (text: string) => void; whole: () => Promise<Command> },
): void {
  for (const shell of ['bash', 'zsh'] as const) {
    command
      .command(shell)
      .description(`print a script for ${shell}, to be read when a shell starts`)
      .action(async () => print(completionScript(await whole(), shell)));
  }
}
