import {
  copyFileSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { defined } from '../../../compiler/format/defined.ts';
import { FILES_NAME, parseFiles, RELEASE_NAME } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';

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
