import { type LogLevel, levelOf } from './log-level.ts';
import type { LogOutput } from './log-output.ts';

export type Log = (entry: Readonly<Record<string, unknown>>) => void;

interface LineLogOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The least level that is written; everything by default. */
  readonly level?: LogLevel;
}

const RANK: Readonly<Record<LogLevel, number>> = { info: 0, warn: 1, error: 2 };

/** A log of one JSON object a line, control characters escaped. An error is written at once, everything else in batches. */
export function lineLog(output: LogOutput, { clock, level = 'info' }: LineLogOptions): Log {
  const least = RANK[level];
  const timestamp = timestamps();
  const write = (entry: Parameters<Log>[0], own: LogLevel): void => {
    const members = JSON.stringify(entry).slice(1);
    const head = `{"time":"${timestamp(clock())}","level":"${own}",`;
    output.write(`${head}${escapeControls(members)}\n`);
  };
  return (entry) => {
    const own = levelOf(entry);
    if (RANK[own] < least) return;
    const lines = output.takeLost();
    if (lines > 0) write({ event: 'log_lines_lost', lines }, 'warn');
    write(entry, own);
    if (own === 'error') output.flush();
  };
}

const CONTROLS = /[\u007f-\u009f\u2028\u2029]/;

/** JSON leaves DEL, the C1 controls and the two Unicode line breaks as they are. */
function escapeControls(json: string): string {
  if (!CONTROLS.test(json)) return json;
  return json.replace(new RegExp(CONTROLS, 'g'), (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Many lines are written in one millisecond. */
function timestamps(): (now: number) => string {
  let lastMs = Number.NaN;
  let lastText = '';
  return (now) => {
    if (now !== lastMs) {
      lastMs = now;
      lastText = new Date(now).toISOString();
    }
    return lastText;
  };
}
