import { hash } from 'node:crypto';
import {
  HASH_COUNT_PATH,
  HASH_INDEX_FOLDER,
  type HashLine,
  parseHashLine,
} from '../../compiler/format/hash-index.ts';
import { parseCatalogRow } from '../../compiler/format/release.ts';
import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import { type Taken, tinyIndex } from './tiny-log.ts';
import { type TinyOptions, tinyFiles } from './tiny-release.ts';
import { tinyService } from './tiny-service.ts';

/** A hash of which nothing but its place in that log is left. */
export const SUPERSEDED_HASH = `sha256:${'ab'.repeat(32)}`;

/** So many record hashes that stand for nothing, from a number on. */
export function hashes(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `sha256:${hash('sha256', `${from + at}`)}`);
}

/** Record hashes of the tiny release. */
export function tinyHashes(files = tinyFiles()): string[] {
  const lines = files.get('index/catalog.txt')?.toString('utf8').split('\n').slice(0, -1) ?? [];
  return lines.map((line) => parseCatalogRow(line).record_hash);
}

/** The tiny release with a log of three releases around its records; the last one took in `more`. */
export function loggedRelease(more: readonly string[] = [], files = tinyFiles()): TinyOptions {
  const taken: Taken = [
    [...hashes(0, 299), SUPERSEDED_HASH],
    [...tinyHashes(), ...hashes(300, 40)],
    [...hashes(400, 10), ...more],
  ];
  return { files: new Map([...files, ...tinyIndex(taken)]), taken };
}

/** A service over the tiny release with that log. */
export async function loggedService(): Promise<Service> {
  return tinyService(loggedRelease());
}

/** What was ever taken in: every line of the look-up of hashes, from the files of a release. */
export function logLinesIn(files: Iterable<readonly [path: string, content: unknown]>): HashLine[] {
  return [...files]
    .filter(([path]) => path.startsWith(`${HASH_INDEX_FOLDER}/`) && path !== HASH_COUNT_PATH)
    .flatMap(([, content]) => String(content).split('\n').slice(0, -1))
    .map(parseHashLine);
}

/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus; throws for a line that is none. */
export function samplesIn(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) throw new RangeError(`Cannot read "${line}": not a sample`);
    return { name, labels: labelsIn(labels), value: Number(value) };
  });
}

function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** The value of the one sample with these labels, others left aside; undefined for none. */
export function sampleValue(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}
