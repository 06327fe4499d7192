import {
  type LogLine,
  type LogRun,
  leadOf,
  logLineStart,
  parseLogLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../../contract/log-runs.ts';
import { findLine, lineAt, textOrder } from '../publish/sorted-lines.ts';
import { LEADS_OF_A_BYTE, linesBetween, type RunSource } from './run-lines.ts';

/** The index of the log of a release. Of each run the file that was read last is held, so look-ups should come in order. */
export class StoredRuns implements RunSource {
  readonly runs: readonly LogRun[];
  readonly #read: (path: string) => Buffer;
  readonly #held = new Map<LogRun, { readonly path: string; readonly bytes: Buffer }>();

  /** `read` gives the bytes of a listed file. */
  constructor(size: number, read: (path: string) => Buffer) {
    this.runs = runsOf(size);
    this.#read = read;
  }

  /** What the log says of a hash, given by its hex digits; null when it does not hold it. Reads one file of each run at most. */
  find(hex: string): LogLine | null {
    for (const run of this.runs) {
      const bytes = this.#file(run, shardOfLead(run, leadOf(hex)));
      const { start } = findLine({ bytes, order: textOrder }, logLineStart(hex));
      const line = lineAt(bytes, start);
      if (line.startsWith(logLineStart(hex))) return parseLogLine(line);
    }
    return null;
  }

  lines(run: LogRun, first: number): Buffer {
    const [from, to] = [first * LEADS_OF_A_BYTE, (first + 1) * LEADS_OF_A_BYTE];
    const shards: Buffer[] = [];
    for (let shard = shardOfLead(run, from); shard <= shardOfLead(run, to - 1); shard += 1) {
      shards.push(linesBetween(this.#file(run, shard), from, to));
    }
    return Buffer.concat(shards);
  }

  #file(run: LogRun, shard: number): Buffer {
    const path = runPath(run, shard);
    const held = this.#held.get(run);
    if (held?.path === path) return held.bytes;
    const bytes = this.#read(path);
    this.#held.set(run, { path, bytes });
    return bytes;
  }
}
