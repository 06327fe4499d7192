import { CODINGS, type Coding, packedPath } from '../../../compiler/format/release.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { Header } from '../../wire/reply.ts';
import type { ReleaseIndex } from './release-index.ts';

/** The stored form of a file that a client likes best. */
export interface CodedFile {
  readonly place: string;
  readonly headers: readonly Header[];
}

const VARY: Header = ['vary', 'accept-encoding'];

/** A file that has a packed form is sent packed to who takes it; one that has none is sent as it is. */
export function codedFile(path: string, acceptEncoding: string, release: ReleaseIndex): CodedFile {
  if (!release.has(packedPath(path, 'gzip'))) return { place: path, headers: [] };
  const coding = acceptedCoding(acceptEncoding);
  const packed = coding === null ? null : packedPath(path, coding);
  if (coding === null || !release.has(packed)) return { place: path, headers: [VARY] };
  return { place: packed, headers: [VARY, ['content-encoding', coding]] };
}

/** Clients spell the header in few ways; strangers may spell it in any. */
const SPELLINGS_MAX = 256;
const known = new BoundedMap<string, Coding | null>(SPELLINGS_MAX);

/** The coding that `Accept-Encoding` likes best of ours, the shorter one first; null for none (RFC 9110, section 12.5.3). */
export function acceptedCoding(acceptEncoding: string): Coding | null {
  if (acceptEncoding === '') return null;
  const before = known.get(acceptEncoding);
  if (before !== undefined) return before;
  // A coding with its weight: 1 where it has none, 0 where that cannot be read.
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((text): [string, number] => {
        const [name = '', weight] = text.split(';');
        return [name.trim(), weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0)];
      }),
  );
  const others = weights.get('*') ?? 0;
  // What says nothing about the plain bytes takes them, but likes any coding that it names better.
  let best: { coding: Coding | null; weight: number } = {
    coding: null,
    weight: weights.get('identity') ?? 0,
  };
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? others;
    const isBetter = best.coding === null ? weight >= best.weight : weight > best.weight;
    if (weight > 0 && isBetter) best = { coding, weight };
  }
  known.set(acceptEncoding, best.coding);
  return best.coding;
}

const WEIGHT = /^\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*$/;
