import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Destination, UploadError } from './destination.ts';
import { POINTER_PATH } from './http-destination.ts';
import type { HttpFiles } from './http-files.ts';

const PARALLEL = 4;
const COMMAND_MS_MAX = 600_000;
const OUTPUT_BYTES_MAX = 1_048_576;
/** Of what a command said that failed. */
const SAID_CHARS_MAX = 500;

export interface CommandOptions {
  /** Copies one file: `rclone copyto {file} remote:shop/{path}`. */
  readonly copy: string;
  /** Removes one file, null for none: `rclone deletefile remote:shop/{path}`. */
  readonly remove: string | null;
  /** Where gatekeepers read what it wrote. */
  readonly reads: HttpFiles;
}

/** A place that another program writes to. */
export function commandDestination({ copy, remove, reads }: CommandOptions): Destination {
  const [copying, removing] = [parsed(copy, ['file', 'path']), remove && parsed(remove, ['path'])];
  return {
    name: copy,
    parallel: PARALLEL,
    read: (path, max) => reads.get(path, max),
    write: (path, { place }) => run(copying, { path, file: place }),
    switchTo: (_, { place }) => run(copying, { path: POINTER_PATH, file: place }),
    remove: removing === null || removing === '' ? null : (path) => run(removing, { path }),
    close: () => reads.close(),
  };
}

/** Words of a command line; quotes hold a word together, and no shell is asked. */
export function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

function parsed(command: string, needed: readonly string[]): string[] {
  const words = wordsOf(command);
  for (const name of needed) {
    if (words.slice(1).some((word) => word.includes(`{${name}}`))) continue;
    throw new UploadError(
      `Cannot use command "${command}": it has no {${name}}; write for example "rclone copyto {file} remote:shop/{path}"`,
    );
  }
  return words;
}

async function run(
  words: readonly string[],
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const filled = words.map((word) =>
    word.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all),
  );
  const [program = '', ...args] = filled;
  const limits = { timeout: COMMAND_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
  try {
    await promisify(execFile)(program, args, limits);
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown';
    throw new UploadError(
      `Cannot write "${values.path}": "${program}" failed (${code})${said === '' ? '' : `: ${said.slice(-SAID_CHARS_MAX)}`}; correct the command and run this again`,
      { cause },
    );
  }
}
