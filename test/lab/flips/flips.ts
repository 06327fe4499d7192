import {
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type CompileOptions, compile } from '../../../compiler/cli/compile.ts';
import { defined } from '../../../compiler/format/errors.ts';
import {
  FILES_NAME,
  type FileEntry,
  parseFiles,
  RELEASE_NAME,
} from '../../../compiler/format/release.ts';
import { LOG_FOLDER } from '../../../compiler/format/tiles.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { type Disk, nodeDisk } from '../../../compiler/system/disk.ts';
import { FAULTS_MAX } from '../../../compiler/verify/release-fault.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { makeSample, SAMPLE_HOUR } from '../../shared-folder.ts';
import { campaign } from '../campaign.ts';

/** Files that are harmed at once; a report names no more than FAULTS_MAX. */
const AT_ONCE = Math.floor(FAULTS_MAX * 0.8);

export interface FlipRelease {
  /** Folder of the release, below `releases`. */
  readonly root: string;
  readonly did: string;
}

interface FlipOptions {
  readonly random: (below: number) => number;
  /** Classes to sample; all by default. */
  readonly classes?: readonly ByteClass[];
  /** Bytes that are changed in each file that the list does not name. */
  readonly own: number;
}

/** Files of a release that its list does not name. */
type OwnFile = 'head' | 'list' | 'log';

interface FlipResult {
  readonly byClass: Partial<Record<ByteClass | OwnFile, number>>;
  readonly flips: number;
  /** Files with a changed byte that the report did not name, and files named without one. */
  readonly wrong: readonly string[];
}

/** Changes one byte of each class in every listed file, and compares the files that `verify` names. */
export async function runFlips(release: FlipRelease, options: FlipOptions): Promise<FlipResult> {
  const entries = parseFiles(readFileSync(join(release.root, FILES_NAME), 'utf8'));
  const byClass: Partial<Record<ByteClass | OwnFile, number>> = {};
  const wrong: string[] = [];
  for (const name of options.classes ?? BYTE_CLASSES) {
    for (let start = 0; start < entries.length; start += AT_ONCE) {
      const some = entries.slice(start, start + AT_ONCE);
      const harmed = changesOf(name, some, { release, ...options });
      byClass[name] = (byClass[name] ?? 0) + harmed.size;
      wrong.push(...(await misnamed(release, harmed)));
    }
  }
  for (const [kind, file, named] of [
    ['head', RELEASE_NAME, RELEASE_NAME],
    // The head holds the hash of the list.
    ['list', FILES_NAME, RELEASE_NAME],
  ] as const) {
    const isNamed: IsNamed = ([first]) => first === named;
    wrong.push(...(await ownFlips(release, { place: join(release.root, file), isNamed }, options)));
    byClass[kind] = options.own;
  }
  const log = logPlaces(release.root);
  for (const place of log) {
    wrong.push(...(await ownFlips(release, { place, isNamed: isOfLog }, options)));
  }
  byClass.log = log.length * options.own;
  const flips = Object.values(byClass).reduce((sum, count) => sum + count, 0);
  return { byClass, flips, wrong };
}

interface Change {
  readonly path: string;
  readonly at: number;
  readonly mask: number;
}

/** One byte of the class in each of these files that has one, by the place of the file. */
function changesOf(
  name: ByteClass,
  entries: readonly FileEntry[],
  { release, random }: { readonly release: FlipRelease } & FlipOptions,
): Map<string, Change> {
  const changes = new Map<string, Change>();
  for (const { path, sha256 } of entries) {
    const stored = storedPath(path, sha256);
    const places = byteClasses(readFileSync(join(release.root, '../..', stored))).get(name) ?? [];
    const at = places[random(places.length)];
    if (at !== undefined) changes.set(stored, { path, at, mask: 1 + random(255) });
  }
  return changes;
}

async function misnamed(
  release: FlipRelease,
  changes: ReadonlyMap<string, Change>,
): Promise<string[]> {
  if (changes.size === 0) return [];
  const disk = changedDisk((path) => changes.get(path.slice(path.indexOf('files/'))));
  const { faults } = await verifyRelease(release.root, { trust: [release.did], disk });
  const named = new Set(faults.map(({ file }) => file));
  const harmed = new Set([...changes.values()].map(({ path }) => path));
  return [
    ...[...harmed].filter((path) => !named.has(path)),
    ...[...named].filter((path) => !harmed.has(path)),
  ];
}

/** Every file of the log beside a release. */
export function logPlaces(root: string): string[] {
  const folder = join(root, '../..', LOG_FOLDER);
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** Whether the files that a report names, in its order, are those of the harm. */
type IsNamed = (files: readonly string[]) => boolean;

/** A changed entry no longer leads to its checkpoint: which of both was changed, nothing tells. */
const isOfLog: IsNamed = (files) =>
  files.length > 0 && files.every((file) => `${file}/`.startsWith(`${LOG_FOLDER}/`));

interface OwnHarm {
  readonly place: string;
  readonly isNamed: IsNamed;
}

/** Random bytes of a file that the list does not name. */
async function ownFlips(
  release: FlipRelease,
  { place, isNamed }: OwnHarm,
  { own, random }: FlipOptions,
): Promise<string[]> {
  const size = readFileSync(place).length;
  const wrong: string[] = [];
  for (let round = 0; round < own; round += 1) {
    const change = { path: place, at: random(size), mask: 1 + random(255) };
    const disk = changedDisk((path) => (resolve(path) === place ? change : undefined));
    const { faults } = await verifyRelease(release.root, { trust: [release.did], disk });
    if (!isNamed(faults.map(({ file }) => file))) wrong.push(`${place} at ${change.at}`);
  }
  return wrong;
}

/** A disk on which some files have one other byte. */
export function changedDisk(changeOf: (path: string) => Change | undefined): Disk {
  return {
    ...nodeDisk,
    chunks(path) {
      const change = changeOf(path);
      if (change === undefined) return nodeDisk.chunks(path);
      const bytes = readFileSync(path);
      bytes[change.at] = (bytes[change.at] ?? 0) ^ change.mask;
      return [bytes];
    },
  };
}

/** Kinds of bytes that a careless reader might pass over. */
const BYTE_CLASSES = [
  'signature',
  'hash',
  'key',
  'digit',
  'letter',
  'structure',
  'whitespace',
  'other',
] as const;
type ByteClass = (typeof BYTE_CLASSES)[number];

/** Earlier ones take what later ones would also match. */
const PATTERNS: readonly (readonly [ByteClass, RegExp])[] = [
  ['signature', /(?<="signature":\s*")[A-Za-z0-9_-]+/g],
  ['hash', /[0-9a-f]{64}/g],
  ['key', /(?<=")[A-Za-z_$@][\w$@-]*(?="\s*:)/g],
  ['digit', /[0-9]/g],
  ['letter', /[A-Za-z]/g],
  ['structure', /[{}[\]:,"]/g],
  ['whitespace', /\s/g],
];

/** Positions of the bytes of a file by class; classes that it lacks are absent. */
export function byteClasses(bytes: Uint8Array): ReadonlyMap<ByteClass, readonly number[]> {
  const text = Buffer.from(bytes).toString('latin1');
  const taken = new Uint8Array(bytes.length);
  const found = new Map<ByteClass, number[]>();
  const take = (name: ByteClass, at: number): void => {
    if (taken[at] === 1) return;
    taken[at] = 1;
    const places = found.get(name);
    if (places === undefined) found.set(name, [at]);
    else places.push(at);
  };
  for (const [name, pattern] of PATTERNS) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      for (let at = index; at < index + match.length; at += 1) take(name, at);
    }
  }
  for (let at = 0; at < bytes.length; at += 1) take('other', at);
  return found;
}

interface HarmOptions {
  /** Data folder with at least two releases; every harm is undone. */
  readonly data: string;
  readonly did: string;
  readonly random: (below: number) => number;
  /** Times that each harm is done. */
  readonly rounds: number;
}

/** What a harm does to a data folder: the files that must be named, and how it is undone. */
interface Harm {
  readonly named: readonly string[];
  undo(): void;
}

const HARMS = { swap, drop, add, replay } as const;

interface HarmResult {
  readonly byHarm: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
}

/** Swaps two files, drops one, adds one, puts an older release in the place of the newest; each must be named. */
export async function runHarms(options: HarmOptions): Promise<HarmResult> {
  const wrong: string[] = [];
  const byHarm: Record<string, number> = {};
  for (const [name, harm] of Object.entries(HARMS)) {
    for (let round = 0; round < options.rounds; round += 1) {
      const { named, undo } = harm(options);
      const { faults, strays } = await verifyRelease(options.data, { trust: [options.did] });
      // A newer release that is not served is no fault: a compile that was killed leaves one.
      const files = [...faults.map(({ file }) => file), ...strays];
      undo();
      const missed = named.filter((file) => !files.includes(file));
      if (missed.length > 0) wrong.push(`${name}: ${missed.join()}`);
    }
    byHarm[name] = options.rounds;
  }
  return { byHarm, wrong };
}

interface PlacedHarm {
  readonly path: string;
  readonly place: string;
}

function anyFile({ data, random }: HarmOptions): PlacedHarm {
  const entries = parseFiles(readFileSync(join(data, 'current', FILES_NAME), 'utf8'));
  const entry = entries[random(entries.length)];
  if (entry === undefined) throw new RangeError('Cannot harm a release: it lists no files');
  return { path: entry.path, place: join(data, storedPath(entry.path, entry.sha256)) };
}

function swap(options: HarmOptions): Harm {
  const one = anyFile(options);
  let other = anyFile(options);
  while (sameBytes(one, other)) other = anyFile(options);
  const exchange = (): void => {
    renameSync(one.place, `${one.place}.x`);
    renameSync(other.place, one.place);
    renameSync(`${one.place}.x`, other.place);
  };
  exchange();
  return { named: [one.path, other.path], undo: exchange };
}

function sameBytes(one: PlacedHarm, other: PlacedHarm): boolean {
  return readFileSync(one.place).equals(readFileSync(other.place));
}

function drop(options: HarmOptions): Harm {
  const { path, place } = anyFile(options);
  renameSync(place, `${options.data}/dropped`);
  return { named: [path], undo: () => renameSync(`${options.data}/dropped`, place) };
}

/** One more file in the folder of the release. */
function add(options: HarmOptions): Harm {
  const { place } = anyFile(options);
  const extra = `extra-${options.random(1e6)}.json`;
  const root = join(options.data, 'current', extra);
  copyFileSync(place, root);
  return { named: [extra], undo: () => rmSync(root) };
}

/** The previous release in the place of the newest: by the link, or by its two files. */
function replay(options: HarmOptions): Harm {
  return options.random(2) === 0 ? replayLink(options) : replayFiles(options);
}

function replayLink({ data }: HarmOptions): Harm {
  const link = join(data, 'current');
  const newest = readlinkSync(link);
  const point = (to: string): void => {
    rmSync(link);
    symlinkSync(to, link);
  };
  point(`releases/${before(data)}`);
  return { named: [newest], undo: () => point(newest) };
}

function replayFiles({ data }: HarmOptions): Harm {
  const own = [RELEASE_NAME, FILES_NAME].map((name) => join(data, 'current', name));
  const kept = own.map((file) => readFileSync(file));
  for (const file of own) copyFileSync(join(data, 'releases', before(data), basename(file)), file);
  const undo = (): void => {
    for (const [at, file] of own.entries())
      writeFileSync(file, defined(kept[at], 'the kept bytes'));
  };
  return { named: [RELEASE_NAME], undo };
}

/** The folder of the previous release the newest. */
function before(data: string): string {
  const name = readdirSync(join(data, 'releases')).sort().at(-2);
  if (name === undefined) throw new RangeError('Cannot replay a release: there is only one');
  return name;
}

/** Of the sample: a scale, a place of several signals, a life cycle, rosters, filings, documents. */
const SIGNALS =
  /\/(airquality|hydrology|climate-policy|filing|trust|mcp|stable|stablecoin|document)\b/;
const BATCHES_FROM = '2026-11-1';

/** A data folder with two releases of a part of the sample. */
export async function smallData(
  home: string,
): Promise<{ data: string; root: string; did: string }> {
  const [whole, snapshots] = [join(home, 'sample'), join(home, 'snapshots')];
  makeSample(whole);
  for (const path of readdirSync(whole, { recursive: true, encoding: 'utf8' })) {
    if (path < BATCHES_FROM || !SIGNALS.test(path)) continue;
    cpSync(join(whole, path), join(snapshots, path));
  }
  const data = join(home, 'data');
  const options: Omit<CompileOptions, 'asOf'> = {
    snapshots,
    data,
    issuerName: 'Flip campaign',
    baseUrl: 'https://readings.example',
    seed: new Uint8Array(32).fill(7),
    workers: 0,
  };
  await compile({ ...options, asOf: SAMPLE_HOUR });
  const { folder, release } = await compile({ ...options, asOf: '2026-11-21T12:00:00Z' });
  return { data, root: folder, did: release.issuer_did };
}

/**
 * Changes one byte of every class in every file of a small release, swaps, drops, adds and replays files, and says what
 * `verify` did not name (I24).
 */
export const experiment = campaign(
  { seed: 24, rounds: 25 },
  async ({ flags: { seed, rounds }, folder, random, say }) => {
    const release = await smallData(folder);
    const flips = await runFlips(release, { random, own: rounds * 4 });
    const harms = await runHarms({ ...release, random, rounds });
    say(`seed ${seed}: ${flips.flips} changed bytes ${JSON.stringify(flips.byClass)}`);
    say(`harms ${JSON.stringify(harms.byHarm)}`);
    return [...flips.wrong, ...harms.wrong];
  },
);
