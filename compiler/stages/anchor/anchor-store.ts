import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type AnchorState,
  anchorProofPath,
  anchorStatePath,
  formatAnchorState,
  parseAnchorState,
} from '../../contract/anchor-state.ts';
import { messageOf } from '../../contract/errors.ts';
import { PROOF_BYTES_MAX } from '../../contract/ots-proof.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { replaceFile } from '../publish/replace-file.ts';

/** A state is a few hundred bytes. */
const STATE_BYTES_MAX = 65_536;

/** A timestamp of a root of the log: what is known about it, and the proof. */
interface Anchor {
  readonly state: AnchorState;
  readonly proof: Uint8Array;
}

/** The timestamps of the log of a data folder, by the root in hex. */
export interface AnchorStore {
  /** Null while the root is unstamped; throws a RangeError for files that are damaged. */
  read(rootHex: string): Anchor | null;
  /** Every root that has one, in order. */
  roots(): string[];
  /** Replaces both files, the proof first: a state never speaks of a proof that is not there. */
  write(anchor: Anchor): void;
}

export function anchorStore(data: string): AnchorStore {
  const placeOf = (path: string): string => join(data, path);
  return {
    read(rootHex) {
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
    roots() {
      const folder = dirname(placeOf(anchorStatePath('')));
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return names
        .filter((name) => name.endsWith('.json'))
        .map((name) => basename(name, '.json'))
        .sort();
    },
    write({ state, proof }) {
      const path = placeOf(anchorStatePath(state.root));
      mkdirSync(dirname(path), { recursive: true });
      replaceFile(placeOf(anchorProofPath(state.root)), proof);
      replaceFile(path, formatAnchorState(state));
    },
  };
}
