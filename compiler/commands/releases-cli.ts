import type { Command } from 'commander';
import { z } from 'zod';
import { defined } from '../contract/defined.ts';
import { endpointAt } from '../contract/endpoints.ts';
import { DAY_MS, isoTime } from '../contract/iso-time.ts';
import { filePath } from '../contract/path.ts';
import type { CatalogRow } from '../contract/release.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { readIssuerKey } from '../keys/issuer-key.ts';
import {
  type CatalogChange,
  type ChangeKind,
  catalogChanges,
} from '../stages/publish/catalog-changes.ts';
import {
  type FileListBytes,
  type ListedChange,
  listedChanges,
  readCatalog,
  readStored,
} from '../stages/publish/file-list-bytes.ts';
import { type CommandSettings, dataFolder } from './command-settings.ts';
import { changesText, cleanupFailuresText } from './progress.ts';
import {
  ACCEPT_CLOCK,
  publicationTime,
  type TimeFlags,
  VALID_UNTIL_WEEK,
  validUntilOf,
} from './publication-time.ts';
import { filesOf, listText, prune, rollBack } from './releases-command.ts';
import { KEEP_DAYS, KEEP_LAST, type RetentionFlags, retentionOf } from './retention.ts';

/** Lines that a difference spells out, of files those of each kind. */
const LINES_SHOWN_MAX = 20;

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

/** Defines `releases list|diff|rollback|prune`. */
export function defineReleases(releases: Command, settings: CommandSettings): void {
  const { env, print } = settings;
  const add = (usage: string, description: string): Command =>
    releases
      .command(usage)
      .description(description)
      .option('--data <folder>', 'folder of releases', dataFolder(settings));
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
    .option(...VALID_UNTIL_WEEK)
    .option(...ACCEPT_CLOCK)
    .action(async (name: string, { data, key, validUntil, ...flags }: RollbackFlags) => {
      const seed = readIssuerKey(key ?? env('SIGNALPRESS_ISSUER_KEY'));
      const time = publicationTime(flags, settings.now());
      const until = validUntilOf(validUntil, isoTime(Date.parse(time.asOf) + 7 * DAY_MS));
      const { release, cleanupFailures } = await rollBack({ data, name, ...time, ...until, seed });
      const done = `Release ${release.sequence} is published with the files of "${name}"`;
      print([done, ...cleanupFailuresText(cleanupFailures)].join('\n'));
    });
}

/** The rarest first, so that many new readings hide nothing. */
const SHOWN_ORDER: readonly ChangeKind[] = ['gone', 'new', 'revised', 'older', 'newer'];
const REMARKS: Readonly<Partial<Record<ChangeKind, string>>> = {
  revised: ' (revised)',
  older: ' (an earlier reading)',
};

/** A release that is compared. */
interface ReleaseFiles {
  readonly data: string;
  readonly files: FileListBytes;
}

/** Which entities have other readings in one release than in another, with the values of their main metrics. */
export function readingsDiffText(data: string, names: readonly [string, string]): string {
  const [one, other] = names;
  const before = { data, files: filesOf(data, one) };
  const after = { data, files: filesOf(data, other) };
  const counts = { new: 0, newer: 0, revised: 0, older: 0, gone: 0 };
  const first = new Map<ChangeKind, CatalogChange[]>(SHOWN_ORDER.map((kind) => [kind, []]));
  for (const change of catalogChanges(catalogOf(before, one), catalogOf(after, other))) {
    counts[change.kind] += 1;
    const shown = first.get(change.kind);
    if (shown !== undefined && shown.length < LINES_SHOWN_MAX) shown.push(change);
  }
  const total = SHOWN_ORDER.reduce((sum, kind) => sum + counts[kind], 0);
  const shown = SHOWN_ORDER.flatMap((kind) => defined(first.get(kind), 'the changes')).slice(
    0,
    LINES_SHOWN_MAX,
  );
  const rest = total - shown.length;
  return [
    `${one} -> ${other}: ${total === 0 ? 'no record changed' : changesText(counts)}`,
    ...shown.map((change) => changeLine(change, [before, after])),
    ...(rest > 0 ? [`  … and ${rest} more`] : []),
  ].join('\n');
}

function catalogOf({ data, files }: ReleaseFiles, name: string): Buffer {
  const catalog = readCatalog(data, files);
  if (catalog !== null) return catalog;
  throw new RangeError(
    `Cannot compare release "${name}": its catalog is damaged or gone; compare the files with --files`,
  );
}

function changeLine(
  { kind, row }: CatalogChange,
  [before, after]: readonly [ReleaseFiles, ReleaseFiles],
): string {
  const subject = `${row.entity} ${row.signal_id}`;
  if (kind === 'new') return `+ ${subject} ${readingText(mainReading(after, row))}`;
  if (kind === 'gone') return `- ${subject} ${readingText(mainReading(before, row))}`;
  const [was, is] = [mainReading(before, row), mainReading(after, row)];
  const now = was !== null && is?.metric === was.metric ? is.value : readingText(is);
  return `  ${subject} ${readingText(was)} -> ${now}${REMARKS[kind] ?? ''}`;
}

/** The main metric of a record: the first one. */
interface MainReading {
  readonly metric: string;
  readonly value: string;
}

const withCurrent = z.object({ current: z.record(z.string(), z.unknown()).nullable() });

/** Null where the record cannot be read. */
function mainReading({ data, files }: ReleaseFiles, row: CatalogRow): MainReading | null {
  const { signal_id, entity } = row;
  const path = filePath(endpointAt('/gauge'), { signal_id, entity });
  const entry = path === null ? null : files.find(path);
  if (entry === null) return null;
  try {
    const { current } = withCurrent.parse(parseJson(decodeUtf8(readStored(data, entry))));
    const [metric, value] = Object.entries(current ?? {})[0] ?? ['current', null];
    return { metric, value: JSON.stringify(value) };
  } catch {
    return null;
  }
}

function readingText(reading: MainReading | null): string {
  return reading === null ? 'unreadable' : `${reading.metric} ${reading.value}`;
}

const MARKS = { added: '+', changed: '~', gone: '-' } as const;

/** How the file lists of two releases differ, by path. */
export function filesDiffText(data: string, [one, other]: readonly [string, string]): string {
  const paths: Record<ListedChange['change'], string[]> = { added: [], changed: [], gone: [] };
  const [before, after] = [filesOf(data, one), filesOf(data, other)];
  for (const { path, change } of listedChanges(before.bytes, after.bytes)) {
    paths[change].push(path);
  }
  const { added, changed, gone } = paths;
  return [
    `${one} -> ${other}: ${added.length} added, ${changed.length} changed, ${gone.length} gone`,
    ...(['added', 'changed', 'gone'] as const).flatMap((kind) => shown(MARKS[kind], paths[kind])),
  ].join('\n');
}

function shown(mark: string, paths: readonly string[]): string[] {
  const rest = paths.length - LINES_SHOWN_MAX;
  const lines = paths.slice(0, LINES_SHOWN_MAX).map((path) => `${mark} ${path}`);
  return rest > 0 ? [...lines, `${mark} … and ${rest} more`] : lines;
}
