import type { Command } from 'commander';
import { type CommandSettings, dataFolder } from '../commands/command-settings.ts';
import { instant } from '../commands/compile-options.ts';
import { isoTime } from '../contract/iso-time.ts';
import {
  daysOf,
  keysText,
  listReceiptKey,
  namedSince,
  OVERLAP_DAYS,
  revokeKey,
  rotateKey,
} from './key-command.ts';
import { KeyError, readIssuerKey, readKeys, writeIssuerKey } from './key-store.ts';

interface RotateFlags {
  data: string;
  key?: string;
  to: string;
  from?: string;
  overlap: string;
}

interface RevokeFlags {
  data: string;
  key?: string;
  did: string;
  from: string;
}

interface ReceiptFlags {
  data: string;
  key?: string;
  did: string;
  since?: string;
  until?: string;
}

export function defineKey(key: Command, settings: CommandSettings): void {
  const { env, print } = settings;
  const now = isoTime(settings.now());
  const seed = (file: string | undefined) => readIssuerKey(file ?? env('SIGNALPRESS_ISSUER_KEY'));
  const add = (name: string, description: string): Command =>
    key
      .command(name)
      .description(description)
      .option('--data <folder>', 'folder of releases', dataFolder(settings));
  const signed = (name: string, description: string): Command =>
    add(name, description).option('--key <file>', 'key that signs (or SIGNALPRESS_ISSUER_KEY)');
  add('list', 'list every issuer key and mark those that may sign now').action(
    ({ data }: { data: string }) => print(keysText(readKeys(data), now)),
  );
  signed('rotate', 'announce a new key under the newest one; the next compile publishes it')
    .requiredOption('--to <file>', 'the new key; make it with keygen')
    .option('--from <time>', 'from when the new key may sign (default: now)')
    .option('--overlap <days>', 'how long the old key may still sign', String(OVERLAP_DAYS))
    .action((flags: RotateFlags) => print(rotated(flags, seed(flags.key), now)));
  signed('revoke', 'revoke a key from a given time on; signed by that key or a later one')
    .requiredOption('--did <did>', 'the key that is revoked')
    .requiredOption('--from <time>', 'what the key signed from then on does not count')
    .action((flags: RevokeFlags) => print(revoked(flags, seed, now)));
  signed('receipt', 'list a key that signs receipts of the service, or end it with --until')
    .requiredOption('--did <did>', 'the key; keygen makes it and prints its DID')
    .option('--since <time>', 'from when its receipts count (default: now, or since it is listed)')
    .option('--until <time>', 'until when they count (default: no end)')
    .action((flags: ReceiptFlags) => print(receiptKeyListed(flags, seed, now)));
}

export function defineKeygen(command: Command, { print }: CommandSettings): void {
  command
    .argument('[file]', 'where to write it', 'issuer.key')
    .action((file: string) =>
      print(`Issuer ${writeIssuerKey(file)}\nKey file "${file}": keep it secret, keep a copy`),
    );
}

function rotated({ data, to, from, overlap }: RotateFlags, old: Uint8Array, now: string): string {
  const history = rotateKey({
    data,
    old,
    next: readIssuerKey(to, '--to'),
    from: instant('--from', from, now),
    overlapDays: daysOf(overlap),
    now,
  });
  return `${keysText(history, now)}\nKeep the old key until it expires, then destroy it`;
}

function revoked(
  { data, key, did, from }: RevokeFlags,
  seed: (file: string | undefined) => Uint8Array,
  now: string,
): string {
  refuseNoDid(did, 'revoke the key of --did');
  const history = revokeKey({
    data,
    seed: seed(key),
    did,
    from: instant('--from', from, now),
    now,
  });
  return keysText(history, now);
}

function receiptKeyListed(
  { data, key, did, since, until }: ReceiptFlags,
  seed: (file: string | undefined) => Uint8Array,
  now: string,
): string {
  refuseNoDid(did, 'list the key of --did');
  const list = readKeys(data);
  const first = list === null ? now : (namedSince(list, did) ?? now);
  const history = listReceiptKey({
    data,
    seed: seed(key),
    did,
    since: instant('--since', since, first),
    until: until === undefined ? null : instant('--until', until, now),
    now,
  });
  return `${keysText(history, now)}\nThe next compile publishes it`;
}

function refuseNoDid(did: string, what: string): void {
  if (did.startsWith('did:key:')) return;
  // Not repeated: whoever mixes options up may have given the key itself.
  throw new KeyError(`Cannot ${what}: not a did:key; pass one that "signalpress key list" shows`);
}
