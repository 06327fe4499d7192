import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type AnchorState,
  anchorProofPath,
  anchorStatePath,
  formatAnchorState,
  parseAnchorState,
} from '../../format/anchor-state.ts';
import { messageOf } from '../../format/errors.ts';
import { PROOF_BYTES_MAX } from '../../format/ots-proof.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';

/** A state is a few hundred bytes. */
const STATE_BYTES_MAX = 65_536;

/** A timestamp of a root of the log: what is known about it, and the proof. */
interface Anchor {
  readonly state: AnchorState;
  readonly proof: Uint8Array;
}

export type AnchorStore = ReturnType<typeof anchorStore>;

/** The timestamps of the log of a data folder, by the root in hex. */
export function anchorStore(data: string) {
  const placeOf = (path: string): string => join(data, path);
  return {
    /** Null while the root is unstamped; throws a RangeError for files that are damaged. */
    read(rootHex: string): Anchor | null {
      const path = placeOf(anchorStatePath(rootHex));
      if (!existsSync(path)) return null;
      try {
        const state = parseAnchorState(readPlain(path, STATE_BYTES_MAX).toString('utf8'));
        if (state.root !== rootHex) throw new RangeError(`it names root "${state.root}"`);
        return { state, proof: readPlain(placeOf(anchorProofPath(rootHex)), PROOF_BYTES_MAX) };
      } catch (cause) {
        throw new RangeError(
          `Cannot read the timestamp "${path}": ${messageOf(cause)}; restore it, or remove both of its files to stamp again`,
          { cause },
        );
      }
    },
    /** Every root that has one, in order. */
    roots(): string[] {
      const folder = dirname(placeOf(anchorStatePath('')));
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return names.flatMap((name) => /^(.*)\.json$/.exec(name)?.[1] ?? []).sort();
    },
    /** Replaces both files, the proof first: a state never speaks of a proof that is not there. */
    write({ state, proof }: Anchor): void {
      const path = placeOf(anchorStatePath(state.root));
      mkdirSync(dirname(path), { recursive: true });
      replaceFile(placeOf(anchorProofPath(state.root)), proof);
      replaceFile(path, formatAnchorState(state));
    },
  };
}
