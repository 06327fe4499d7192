import { existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { isoTime } from '../format/iso-time.ts';
import type { KeyHistory } from '../format/key-history.ts';
import {
  daysOf,
  keysText,
  listReceiptKey,
  namedSince,
  OVERLAP_DAYS,
  revokeKey,
  rotateKey,
} from '../publish/keys/key-command.ts';
import {
  changeKeys,
  KeyError,
  keepKeys,
  readIssuerKey,
  readKeys,
  writeIssuerKey,
} from '../publish/keys/key-store.ts';
import {
  adoptedList,
  DRAFT_BYTES_MAX,
  draftRoot,
  draftText,
  formatDraft,
  type KeyTime,
  type RootDraft,
  readDraft,
  signDraft,
} from '../publish/keys/root-draft.ts';
import {
  type CommandSettings,
  dataFolder,
  JSON_OPTION,
  jsonText,
  repeated,
} from '../system/command-settings.ts';
import { readNamed } from '../system/disk.ts';
import { replaceFile } from '../system/plain-file.ts';
import { instant } from './compile-options.ts';

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
  add('list', 'list every issuer key and mark those that may sign now')
    .option(...JSON_OPTION)
    .action(({ data, json }: { data: string; json?: true }) => {
      const keys = readKeys(data);
      print(json === true ? jsonText(keys) : keysText(keys, now));
    });
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

type Named = readonly string[] | undefined;

export function defineRoot(root: Command, settings: CommandSettings): void {
  const { print } = settings;
  const now = isoTime(settings.now());
  const folder = ['--data <folder>', 'folder of releases', dataFolder(settings)] as const;
  root
    .command('keygen')
    .description('make root keys, each in a file of its own; keep each on a medium of its own')
    .argument('<file...>', 'where to write them')
    .action((files: string[]) => print(rootKeys(files)));
  defineDraft(root.command('draft'), { folder, now, print });
  root
    .command('show')
    .description('say what a drafted version states, and whose signatures it lacks')
    .argument('<file>', 'the draft')
    .action((file: string) => print(draftText(draftIn(file))));
  root
    .command('sign')
    .description('add a signature to a drafted version; needs neither releases nor a network')
    .argument('<file>', 'the draft; it is replaced')
    .requiredOption('--key <file>', 'a root key, or an issuer key whose signature is missing')
    .action((file: string, { key }: { key: string }) => {
      const signed = signDraft(draftIn(file), readIssuerKey(key, '--key'));
      replaceFile(file, formatDraft(signed));
      print(draftText(signed));
    });
  root
    .command('adopt')
    .description('take a finished version up; the next compile publishes it')
    .argument('<file>', 'the draft with every signature')
    .option(...folder)
    .action((file: string, { data }: { data: string }) => {
      const adopted = changeKeys(data, () =>
        keepKeys(data, adoptedList(listOf(data), draftIn(file))),
      );
      print(`${keysText(adopted, now)}\nThe next compile publishes it`);
    });
}

function defineDraft(
  draft: Command,
  {
    folder,
    now,
    print,
  }: Pick<CommandSettings, 'print'> & {
    folder: readonly [string, string, string];
    now: string;
  },
): void {
  const timed = '<did[=time]>';
  draft
    .description('write the next version of the root as a file that is carried to each key')
    .argument('<file>', 'where to write it')
    .option(...folder)
    .option('--root <did>', 'a root key; name all of them, or leave them as they are', repeated)
    .option('--threshold <count>', 'how many root keys have to sign (default: as it is, or 2)')
    .option(`--add ${timed}`, 'a new issuer key, and from when it may sign', repeated)
    .option(`--end ${timed}`, 'an issuer key, and until when it may sign', repeated)
    .option(`--revoke ${timed}`, 'an issuer key, and from when it is revoked', repeated)
    .option(
      '--overlap <days>',
      'how long the key before an added one may still sign',
      String(OVERLAP_DAYS),
    )
    .option(
      `--receipt ${timed}`,
      'a receipt key that does not count yet, and from when it does',
      repeated,
    )
    .option(`--end-receipt ${timed}`, 'a receipt key, and until when it counts', repeated)
    .action(
      (
        file: string,
        flags: {
          data: string;
          root?: Named;
          threshold?: string;
          add?: Named;
          end?: Named;
          revoke?: Named;
          receipt?: Named;
          endReceipt?: Named;
          overlap: string;
        },
      ) => {
        const list = listOf(flags.data);
        const times = (option: string, named: Named = []): KeyTime[] =>
          named.map((text) => keyTime(option, text, () => now));
        // What a receipt key signed before a theft of the issuer key stays good.
        const since = (did: string): string => namedSince(list, did) ?? now;
        const drafted = draftRoot(list, {
          ...(flags.root === undefined ? {} : { rootKeys: flags.root }),
          ...(flags.threshold === undefined ? {} : { threshold: thresholdOf(flags.threshold) }),
          add: times('--add', flags.add),
          end: times('--end', flags.end),
          revoke: times('--revoke', flags.revoke),
          receipt: (flags.receipt ?? []).map((text) => keyTime('--receipt', text, since)),
          endReceipt: times('--end-receipt', flags.endReceipt),
          overlapDays: daysOf(flags.overlap),
          now,
        });
        if (existsSync(file)) {
          throw new KeyError(`Cannot write "${file}": the file exists; name another file`);
        }
        writeFileSync(file, formatDraft(drafted), { flag: 'wx' });
        print(`${draftText(drafted)}\nDraft "${file}": sign it with "signalpress root sign"`);
      },
    );
}

function keyTime(option: string, text: string, usual: (did: string) => string): KeyTime {
  const [did = '', at] = text.split('=', 2);
  if (!did.startsWith('did:key:')) {
    // Not repeated: whoever mixes options up may have given the key itself.
    throw new KeyError(
      `Cannot use ${option}: not a did:key; write it as did:key:z6Mk…=2026-11-20T12:00:00Z`,
    );
  }
  return { did, at: instant(option, at, usual(did)) };
}

function thresholdOf(text: string): number {
  if (/^[1-9]$/.test(text)) return Number(text);
  throw new KeyError(`Cannot use --threshold "${text}": not a number of keys; pass one such as 2`);
}

function rootKeys(files: readonly string[]): string {
  const taken = files.find((file, at) => existsSync(file) || files.indexOf(file) !== at);
  if (taken !== undefined) {
    throw new KeyError(
      `Cannot write key "${taken}": the file exists, or is named twice, and keys are never overwritten; name another file`,
    );
  }
  const lines = files.map((file) => `Root key ${writeIssuerKey(file)}\nKey file "${file}"`);
  return [...lines, 'Keep each on a medium of its own, away from every machine that signs'].join(
    '\n',
  );
}

function listOf(data: string): KeyHistory {
  const list = readKeys(data);
  if (list !== null) return list;
  throw new KeyError(
    `Cannot draft a root for "${data}": it has no issuer key yet; compile once, then draft`,
  );
}

function draftIn(file: string): RootDraft {
  let bytes: Uint8Array;
  try {
    bytes = readNamed(file, DRAFT_BYTES_MAX);
  } catch (cause) {
    throw new KeyError(`Cannot read the draft "${file}": not there, or no file; name another`, {
      cause,
    });
  }
  return readDraft(bytes);
}
