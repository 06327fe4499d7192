import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../contract/errors.ts';
import {
  type AnchorState,
  anchorProofPath,
  anchorStatePath,
  formatAnchorState,
  parseAnchorState,
} from '../../contract/log-batch.ts';
import { PROOF_BYTES_MAX } from '../../contract/ots-proof.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { CompileError } from '../intake/compile-error.ts';
import { replaceFile } from '../publish/replace-file.ts';
import type { PreviousRelease } from './previous-log.ts';

/** Folder of timestamp proofs beside the releases: what the operator's stamps and upgrades brought. */
const FOLDER = 'anchors';
/** A file that was written about when it was asked for counts as changed. */
const FRESH_MS = 2000;
/** A state is a few hundred bytes. */
const STATE_BYTES_MAX = 65_536;

/** A timestamp of a root: what is known about it, and the proof. */
interface Anchor {
  readonly state: AnchorState;
  readonly proof: Uint8Array;
}

/** The timestamps of a data folder, by the root in hex. */
export interface AnchorStore {
  /** Null while the root is unstamped; throws a CompileError for files that are damaged. */
  read(rootHex: string): Anchor | null;
  /** Roots of which the folder holds something that was written since a time of the clock of the disk. */
  changedSince(timeMs: number): string[];
  /** Replaces both files, the proof first: a state never speaks of a proof that is not there. */
  write(anchor: Anchor): void;
}

/** A published timestamp is not lost with the folder: if the folder knows less than the release, the release counts. */
export function anchorStore(
  data: string,
  release: Pick<PreviousRelease, 'read'> | null = null,
): AnchorStore {
  const folder = join(data, FOLDER);
  return {
    read(rootHex) {
      const stored = storedAnchor(folder, rootHex);
      if (stored?.state.ots_state === 'confirmed') return stored;
      const published = release === null ? null : publishedAnchor(release, rootHex);
      return published?.state.ots_state === 'confirmed' ? published : (stored ?? published);
    },
    changedSince(timeMs) {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      const changed = names.filter((name) => {
        return statSync(join(folder, name)).ctimeMs >= timeMs - FRESH_MS;
      });
      return [...new Set(changed.map((name) => name.replace(/\.[a-z]+$/, '')))].sort();
    },
    write({ state, proof }) {
      mkdirSync(folder, { recursive: true });
      replaceFile(join(folder, `${state.root}.ots`), proof);
      replaceFile(join(folder, `${state.root}.json`), formatAnchorState(state));
    },
  };
}

function storedAnchor(folder: string, rootHex: string): Anchor | null {
  const name = join(folder, `${rootHex}.json`);
  if (!existsSync(name)) return null;
  try {
    return readAnchor(folder, rootHex);
  } catch (cause) {
    throw damaged(name, cause);
  }
}

function publishedAnchor({ read }: Pick<PreviousRelease, 'read'>, rootHex: string): Anchor | null {
  const [state, proof] = [read(anchorStatePath(rootHex)), read(anchorProofPath(rootHex))];
  if (state === null || proof === null) return null;
  return { state: parseAnchorState(state.toString('utf8')), proof };
}

function readAnchor(folder: string, rootHex: string): Anchor {
  const state = parseAnchorState(
    readPlain(join(folder, `${rootHex}.json`), STATE_BYTES_MAX).toString('utf8'),
  );
  if (state.root !== rootHex) throw new RangeError(`it names root "${state.root}"`);
  return { state, proof: readPlain(join(folder, `${rootHex}.ots`), PROOF_BYTES_MAX) };
}

function damaged(file: string, cause: unknown): CompileError {
  const message = `the timestamp cannot be read: ${messageOf(cause)}; restore it, or remove it to use the one of the current release`;
  return new CompileError([{ code: 'log_refused', file, message }]);
}
