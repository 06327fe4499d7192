import type { Command } from 'commander';
import { untidyText } from './progress.ts';
import { ACCEPT_CLOCK, instant, publicationTime, type TimeFlags } from './publication-time.ts';
import { listText, prune, rollBack } from './releases-command.ts';
import { filesDiffText, readingsDiffText } from './releases-diff.ts';
import { KEEP_DAYS, KEEP_LAST, type RetentionFlags, retentionOf } from './retention.ts';

/** What the commands are given from outside. */
export interface ReleasesSettings {
  /** Default data folder. */
  readonly data: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The seed of a key file, or of the environment. */
  readonly seed: (key: string | undefined) => Uint8Array;
  readonly print: (text: string) => void;
}

interface DataFlag {
  readonly data: string;
}

interface DiffFlags extends DataFlag {
  readonly files?: boolean;
}

interface RollbackFlags extends DataFlag, Pick<TimeFlags, 'acceptClock'> {
  readonly key?: string;
  readonly validUntil?: string;
}

/** Adds `releases list|diff|rollback|prune`. */
export function addReleasesCommand(program: Command, settings: ReleasesSettings): void {
  const { print } = settings;
  const releases = program
    .command('releases')
    .description('list, compare, roll back and prune releases');
  const add = (usage: string, description: string): Command =>
    releases
      .command(usage)
      .description(description)
      .option('--data <folder>', 'folder of releases', settings.data);
  add('list', 'list every release and mark the current one').action(({ data }: DataFlag) => {
    print(listText(data));
  });
  add('diff <one> <other>', 'show how the readings of two releases differ')
    .option('--files', 'show how their lists of files differ instead')
    .action((one: string, other: string, { data, files }: DiffFlags) => {
      const text = files === true ? filesDiffText : readingsDiffText;
      print(text(data, [one, other]));
    });
  add('prune', 'remove releases that are no longer kept, and their files')
    .option(...KEEP_LAST)
    .option(...KEEP_DAYS)
    .action(({ data, ...flags }: DataFlag & RetentionFlags) => {
      const gone = prune(data, retentionOf(flags));
      print(gone.length === 0 ? 'nothing to prune' : `pruned ${gone.join(', ')}`);
    });
  add('rollback <name>', 'publish the files of an older release as the newest')
    .option('--key <file>', 'issuer key file (or SIGNALPRESS_ISSUER_KEY)')
    .option('--valid-until <time>', 'when readers should look for a newer release (default: never)')
    .option(...ACCEPT_CLOCK)
    .action(async (name: string, { data, key, validUntil, ...flags }: RollbackFlags) => {
      const seed = settings.seed(key);
      const time = publicationTime(flags, settings.now());
      const until =
        validUntil === undefined
          ? {}
          : { validUntil: instant('--valid-until', validUntil, time.asOf) };
      const { release, untidy } = await rollBack({ data, name, ...time, ...until, seed });
      const done = `Release ${release.sequence} is published with the files of "${name}"`;
      print([done, ...untidyText(untidy)].join('\n'));
    });
}
