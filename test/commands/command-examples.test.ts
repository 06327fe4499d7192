import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addExamples } from '../../compiler/commands/program.ts';
import { importExamples } from '../../compiler/import/import-cli.ts';
import { SOURCES } from '../../compiler/import/sources.ts';

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

  it('leaves the exit codes of verify to verify', () => {
    expect(helpOf('verify')).not.toContain('Exit codes:');
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
