import type { Writable } from 'node:stream';

/** A reader that has seen enough (`| head`) ends the text, not the command, whose work and exit code stand. */
export function outliveReader(...outputs: readonly Writable[]): void {
  for (const output of outputs) output.on('error', throwUnlessGone);
}

function throwUnlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
