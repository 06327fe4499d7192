import type { Config, PaidNetwork } from '../config/config.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import type { AskWeb } from './ask.ts';
import type { Finding } from './finding.ts';
import type { TokenNode } from './token-node.ts';

/** What the checks look at. Nothing of it is written to, and no payment is sent. */
export interface Examined {
  readonly config: Config;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** What the command line and the environment said that is no setting. */
  readonly ignored: readonly string[];
  /** Opens the release once for all checks; rejects with a StartError. */
  readonly release: () => Promise<ReleaseIndex>;
  /** The chain node of a network; null where none is configured. */
  readonly node: (of: PaidNetwork) => Promise<TokenNode | null>;
  readonly ask: AskWeb;
  /** Free and total bytes of the file system of a path, and whether it outlives its container and the memory. */
  readonly space: (path: string) => {
    readonly free: number;
    readonly total: number;
    readonly isLasting: boolean;
  };
}

/** One row of the table of checks. */
export interface Check {
  readonly name: string;
  /** A rejection counts as a failure, with its message. */
  readonly run: (examined: Examined) => Promise<readonly Finding[]>;
}
