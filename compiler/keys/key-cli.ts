import type { Command } from 'commander';
import { KeyError } from './issuer-key.ts';
import { keysText, OVERLAP_DAYS, OVERLAP_DAYS_MAX, revokeKey, rotateKey } from './key-command.ts';
import { readKeys } from './key-store.ts';

/** What the commands are given from outside. */
interface KeySettings {
  /** Default data folder. */
  readonly data: string;
  readonly now: () => string;
  /** The seed of a key file that an option names, or of the environment. */
  readonly seed: (key: string | undefined, option?: string) => Uint8Array;
  /** The instant that an option gives. */
  readonly instant: (option: string, text: string) => string;
  readonly print: (text: string) => void;
}

interface RotateFlags {
  readonly data: string;
  readonly key?: string;
  readonly to: string;
  readonly from?: string;
  readonly overlap: string;
}

interface RevokeFlags {
  readonly data: string;
  readonly key?: string;
  readonly did: string;
  readonly from: string;
}

/** Adds `key rotate|revoke|list`. */
export function addKeyCommand(program: Command, by: KeySettings): void {
  const key = program.command('key').description('list, rotate and revoke issuer keys');
  const add = (name: string, description: string): Command =>
    key
      .command(name)
      .description(description)
      .option('--data <folder>', 'folder of releases', by.data);
  const signed = (name: string, description: string): Command =>
    add(name, description).option('--key <file>', 'key that signs (or SIGNALPRESS_ISSUER_KEY)');
  add('list', 'list every issuer key and mark those that may sign now').action(
    ({ data }: { readonly data: string }) => by.print(keysText(readKeys(data), by.now())),
  );
  signed('rotate', 'announce a new key under the newest one; the next compile publishes it')
    .requiredOption('--to <file>', 'the new key; make it with keygen')
    .option('--from <time>', 'from when the new key may sign (default: now)')
    .option('--overlap <days>', 'how long the old key may still sign', String(OVERLAP_DAYS))
    .action((flags: RotateFlags) => by.print(rotated(flags, by)));
  signed('revoke', 'revoke a key from a given time on; signed by that key or a later one')
    .requiredOption('--did <did>', 'the key that is revoked')
    .requiredOption('--from <time>', 'what the key signed from then on does not count')
    .action((flags: RevokeFlags) => by.print(revoked(flags, by)));
}

function rotated({ data, key, to, from, overlap }: RotateFlags, by: KeySettings): string {
  const now = by.now();
  const history = rotateKey({
    data,
    old: by.seed(key),
    next: by.seed(to, '--to'),
    from: from === undefined ? now : by.instant('--from', from),
    overlapDays: daysOf(overlap),
    now,
  });
  return `${keysText(history, now)}\nKeep the old key until it expires, then destroy it`;
}

function daysOf(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= OVERLAP_DAYS_MAX) return Number(text);
  throw new KeyError(
    `Cannot rotate with --overlap "${text}": not a number of days from 0 to ${OVERLAP_DAYS_MAX}; pass one such as 30`,
  );
}

function revoked({ data, key, did, from }: RevokeFlags, by: KeySettings): string {
  if (!did.startsWith('did:key:')) {
    // Not repeated: whoever mixes options up may have given the key itself.
    throw new KeyError(
      'Cannot revoke the key of --did: not a did:key; pass one that "signalpress key list" shows',
    );
  }
  const now = by.now();
  const seed = by.seed(key);
  return keysText(revokeKey({ data, seed, did, from: by.instant('--from', from), now }), now);
}
