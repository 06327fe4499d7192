import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

const STATES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder; correct the path',
  EACCES: 'no permission; change its owner or mode, or name another place',
  EPERM: 'no permission; change its owner or mode, or name another place',
  EROFS: 'the disk is read-only; name another place',
  EEXIST: 'a file is already there; name another place',
  ENOTDIR: 'a file stands where a folder is needed; name another place',
  EISDIR: 'it is a folder; name a file',
  ENOSPC:
    'no space left on the disk; make room and run this again; what was published before is unchanged',
  EDQUOT:
    'the quota is used up; make room and run this again; what was published before is unchanged',
  EFBIG:
    'the file is larger than the shell allows; raise the limit (see "ulimit -f") and run this again',
  EMFILE: 'too many open files; raise the limit of the shell (see "ulimit -n")',
};

const VERBS: Readonly<Record<string, string>> = { scandir: 'list', mkdir: 'make folder' };

/** The text of an error for a person; codes of the operating system are spelled out. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const state = STATES[code];
  if (state === undefined || !('syscall' in error)) return error.message;
  const subject = 'path' in error ? ` "${String(error.path)}"` : '';
  const call = String(error.syscall);
  return `Cannot ${VERBS[call] ?? call}${subject}: ${state} (${code})`;
}

/** A reader that has seen enough (`| head`) ends the text, not the command, whose work and exit code stand. */
export function outliveReader(...outputs: readonly Writable[]): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

const COLOURS = [
  [/^verified\b/, 'green'],
  [/^(failed|Cannot)/, 'red'],
  [/^cannot be judged\b/, 'yellow'],
] as const;

/** A text with the words coloured that it begins with, where a terminal shows it and NO_COLOR is not set. */
export function coloured(text: string, stream: NodeJS.WriteStream): string {
  const [begin, colour] = COLOURS.find(([one]) => one.test(text)) ?? [];
  if (begin === undefined || colour === undefined) return text;
  return text.replace(begin, (words) => styleText(colour, words, { stream }));
}
