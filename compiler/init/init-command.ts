import type { Command } from 'commander';
import type { CommandSettings } from '../commands/command-settings.ts';
import { newShop } from './new-shop.ts';

interface InitFlags {
  readonly lines: string;
  readonly extends?: string;
}

/** Defines `init`. */
export function defineInit(command: Command, { now, print }: CommandSettings): void {
  command
    .argument('<folder>', 'where the shop is made; it must not exist, or be empty')
    .option('--lines <name>', 'id of its line', 'tides')
    .option('--extends <catalogue>', 'builtin, to sell the built-in lines too')
    .action((folder: string, flags: InitFlags) => {
      print(newShop({ folder, line: flags.lines, extended: extendedBy(flags), nowMs: now() }));
    });
}

function extendedBy({ extends: named }: InitFlags): 'builtin' | null {
  if (named === undefined || named === 'builtin') return named ?? null;
  throw new RangeError(`Cannot extend "${named}": the only catalogue to extend is builtin`);
}
