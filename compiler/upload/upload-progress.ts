import type { Screen } from '../commands/progress.ts';
import type { UploadProgress } from './upload-release.ts';

/** Where there is no terminal: a line after so long at the earliest. */
const PAUSE_MS = 5_000;

/** How far an upload is: a moving line on a terminal, a line now and then elsewhere. `clock` is in milliseconds. */
export function uploadProgress(screen: Screen, clock: () => number) {
  let written = clock();
  return ({ done, total }: UploadProgress): void => {
    const line = `publishing ${Math.floor((100 * done) / total)} %  ${done} of ${total} files`;
    if (screen.isTTY) {
      screen.write(`\r\u001b[2K${done === total ? '' : line}`);
      return;
    }
    if (clock() - written < PAUSE_MS) return;
    written = clock();
    screen.write(`${line}\n`);
  };
}
