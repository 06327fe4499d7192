import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { defined } from '../format/errors.ts';
import { DAY_MS } from '../format/iso-time.ts';
import { FILES_NAME, type FileEntry, RELEASE_NAME, RELEASES_FOLDER } from '../format/release.ts';
import { BUNDLE } from '../products/bundle.ts';
import { TABLE } from '../products/products.ts';
import { FILES_FOLDER, storedPath } from '../products/shapes/path.ts';
import type { Product } from '../products/shapes/product.ts';
import {
  currentName,
  readRelease,
  releaseFiles,
  releaseNames,
} from '../release/release-folders.ts';
import { onlyIn } from '../release/release-list.ts';
import { STATE_FOLDER } from '../release/release-store.ts';
import {
  type CommandSettings,
  dataFolder,
  JSON_OPTION,
  jsonText,
} from '../system/command-settings.ts';
import { filesOf } from './releases-command.ts';

export function defineStats(command: Command, settings: CommandSettings): void {
  command
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option(...JSON_OPTION)
    .action(({ data, json }: { data: string; json?: true }) => {
      const measured = measuredData(data);
      settings.print(json === true ? jsonText(measured) : statsText(data, measured));
    });
}

/** How many of the newest releases are compared, each with the one before. */
const RELEASES_READ_MAX = 6;

/** How large what in a data folder is, and how fast it grows. Throws a RangeError where there is no release. */
function measuredData(data: string) {
  const current = existsSync(data) ? currentName(data) : null;
  if (current === null) {
    throw new RangeError(`Cannot measure "${data}": no release there; correct --data`);
  }
  const names = releaseNames(data).slice(-RELEASES_READ_MAX);
  const figures = figuresOf({
    current: filesOfRelease(data, current),
    stored: filesBelow(data, ''),
    arrivals: names.slice(1).flatMap((name, at) => {
      const before = names[at];
      return before === undefined ? [] : arrivalOf(data, [before, name]);
    }),
  });
  const { as_of } = readRelease(data, current);
  return { releases: releaseNames(data).length, current, as_of, ...figures };
}

export function statsText(data: string, measured = measuredData(data)): string {
  const { releases: count, current, as_of } = measured;
  const releases = count === 1 ? '1 release' : `${count} releases`;
  return [
    `${releases} in "${data}", the current one ${current}, as of ${as_of}`,
    ...figuresText(measured),
  ].join('\n');
}

function* filesOfRelease(data: string, name: string): Generator<SizedFile> {
  yield* ownFiles(data, name);
  yield* placed(onlyIn(filesOf(data, name).bytes, Buffer.alloc(0)));
}

function* ownFiles(data: string, name: string): Generator<SizedFile> {
  for (const own of [RELEASE_NAME, FILES_NAME]) {
    const path = `${RELEASES_FOLDER}/${name}/${own}`;
    const stats = lstatSync(join(data, path), { throwIfNoEntry: false });
    if (stats !== undefined) yield { path, size: stats.size };
  }
}

function* placed(entries: Iterable<FileEntry>): Generator<SizedFile> {
  for (const { path, size, sha256 } of entries) yield { path: storedPath(path, sha256), size };
}

function arrivalOf(data: string, [before, name]: readonly [string, string]): AddedFiles[] {
  const [was, is] = [releaseFiles(data, before), releaseFiles(data, name)];
  if (was === null || is === null) return [];
  const asOfMs = (each: string): number => Date.parse(readRelease(data, each).as_of);
  const added = [...ownFiles(data, name), ...placed(onlyIn(is.bytes, was.bytes))];
  return [{ name, added, spanMs: asOfMs(name) - asOfMs(before) }];
}

/** Every plain file below a folder; what a compile writes or removes meanwhile may be missing. */
function* filesBelow(data: string, folder: string): Generator<SizedFile> {
  const full = join(data, folder);
  if (!existsSync(full)) return;
  for (const entry of readdirSync(full, { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* filesBelow(data, path);
    const size = entry.isFile()
      ? lstatSync(join(data, path), { throwIfNoEntry: false })?.size
      : undefined;
    if (size !== undefined) yield { path, size };
  }
}

/** Two tables: sizes by kind, and what came with the newest releases. */
export function figuresText(figures: ReturnType<typeof figuresOf>): string[] {
  const { kinds, arrivals, bytesPerDay } = figures;
  const sum = (amounts: readonly Amount[]): Amount => amounts.reduce(plus, { files: 0, bytes: 0 });
  const sizes = [
    ['', 'current files', 'bytes', 'all files', 'bytes'],
    ...kinds.map(({ kind, current, all }) => [kind, ...cells(current), ...cells(all)]),
    [
      'total',
      ...cells(sum(kinds.map(({ current }) => current))),
      ...cells(sum(kinds.map(({ all }) => all))),
    ],
  ];
  const perDay = bytesPerDay === null ? 'not known' : number(bytesPerDay);
  const growth = [
    ['came with', 'files', 'bytes'],
    ...arrivals.map(({ name, amount }) => [name, ...cells(amount)]),
    ['a day, on average', '', perDay],
  ];
  const unknown = ['What comes with a release is known once there are two.'];
  return ['', ...table(sizes), '', ...(arrivals.length === 0 ? unknown : table(growth))];
}

function cells({ files, bytes }: Amount): [string, string] {
  return files === 0 ? ['–', '–'] : [number(files), number(bytes)];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** Rows with the first column on the left and numbers on the right. */
function table(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number =>
    Math.max(...rows.map((row) => defined(row[column], 'the cell').length));
  return rows.map((row) => {
    const line = row.map((cell, column) => {
      return column === 0 ? cell.padEnd(width(0)) : cell.padStart(width(column));
    });
    return line.join('  ');
  });
}

interface SizedFile {
  path: string;
  size: number;
}

interface Amount {
  files: number;
  bytes: number;
}

interface AddedFiles {
  name: string;
  /** Files that the release before does not have. */
  added: Iterable<SizedFile>;
  /** By how much the release is later than the one before. */
  spanMs: number;
}

export interface Measured {
  readonly current: Iterable<SizedFile>;
  /** Everything in the data folder, each file once. */
  readonly stored: Iterable<SizedFile>;
  /** The newest releases, oldest first. */
  readonly arrivals: readonly AddedFiles[];
}

/** Kinds of files by the folder that they stand in, below that of all stored files or below the data folder. */
const KINDS = new Map<string, string>([
  ...TABLE.flatMap(({ kind, file }: Product) =>
    kind === undefined || file === undefined
      ? []
      : [[file.slice(0, file.indexOf('/')), kind] as const],
  ),
  ['segment', 'series and segments'],
  ['bundle', BUNDLE.kind],
  ['filing', 'rosters and filings'],
  ['free', 'samples and previews'],
  ['verify', 'look-ups'],
  ['log', 'log'],
  ['statements', 'proofs'],
  ['index', 'indexes'],
  ['well-known', 'descriptions'],
  ['site', 'page for people'],
  [RELEASES_FOLDER, 'heads and lists'],
  [STATE_FOLDER, 'state'],
]);
const OTHER = 'other';
const KINDS_IN_ORDER: readonly string[] = [...new Set(KINDS.values()), OTHER];

/** Sizes by kind, in a fixed order and only of what there is, and what came with each release. */
export function figuresOf({ current, stored, arrivals }: Measured) {
  const [now, all] = [amountsByKind(current), amountsByKind(stored)];
  const kinds = KINDS_IN_ORDER.flatMap((kind) => {
    const [here, everywhere] = [now.get(kind) ?? NOTHING, all.get(kind) ?? NOTHING];
    return here.files + everywhere.files > 0 ? [{ kind, current: here, all: everywhere }] : [];
  });
  const came = arrivals.map(({ added, ...of }) => ({ ...of, amount: amountOf(added) }));
  return { kinds, arrivals: came, bytesPerDay: bytesPerDay(came) };
}

/** Null where the releases span no time; one whose clock was set right says nothing of the time that passed. */
function bytesPerDay(arrivals: readonly { spanMs: number; amount: Amount }[]): number | null {
  const timed = arrivals.filter(({ spanMs }) => spanMs >= 0);
  const days = timed.reduce((sum, { spanMs }) => sum + spanMs, 0) / DAY_MS;
  const bytes = timed.reduce((sum, { amount }) => sum + amount.bytes, 0);
  return days > 0 ? Math.round(bytes / days) : null;
}

const NOTHING: Amount = { files: 0, bytes: 0 };

function plus(one: Amount, other: Amount): Amount {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes };
}

function amountOf(files: Iterable<SizedFile>): Amount {
  let amount = NOTHING;
  for (const { size } of files) amount = plus(amount, { files: 1, bytes: size });
  return amount;
}

function amountsByKind(files: Iterable<SizedFile>): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>();
  for (const { path, size } of files) {
    const kind = kindOf(path);
    amounts.set(kind, plus(amounts.get(kind) ?? NOTHING, { files: 1, bytes: size }));
  }
  return amounts;
}

const STORED_CATALOG = /^files\/catalog\.[^/]+$/;

/** A form of a file, like `thin/bundle/…`, is of the kind of the file. */
export function kindOf(path: string): string {
  if (STORED_CATALOG.test(path)) return 'descriptions';
  const [top = '', ...below] = path.split('/');
  const folder = top === FILES_FOLDER ? below.find((name) => KINDS.has(name)) : top;
  return KINDS.get(folder ?? '') ?? OTHER;
}
