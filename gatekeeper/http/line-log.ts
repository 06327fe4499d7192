/** Lines that wait at most until the next turn of the event loop. */
export const LOG_BUFFER_LINES = 512;

export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** A log of one JSON object a line, control characters escaped, written in batches. */
export function lineLog(
  write: (text: string) => unknown,
  clock: () => number,
): Log & { flush(): void } {
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length === 0) return;
    const text = lines.join('');
    lines = [];
    write(text);
  };
  const log = (entry: Readonly<Record<string, unknown>>): void => {
    const members = JSON.stringify(entry).slice(1);
    lines.push(`{"time":"${timestamp(clock())}",${escapeControls(members)}\n`);
    if (lines.length === 1) setImmediate(flush);
    else if (lines.length >= LOG_BUFFER_LINES) flush();
  };
  return Object.assign(log, { flush });
}

const CONTROLS = /[\u007f-\u009f\u2028\u2029]/;

/** JSON leaves DEL, the C1 controls and the two Unicode line breaks as they are. */
function escapeControls(json: string): string {
  if (!CONTROLS.test(json)) return json;
  return json.replace(new RegExp(CONTROLS, 'g'), (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

let lastMs = Number.NaN;
let lastText = '';

/** Many lines are written in one millisecond. */
function timestamp(now: number): string {
  if (now !== lastMs) {
    lastMs = now;
    lastText = new Date(now).toISOString();
  }
  return lastText;
}
