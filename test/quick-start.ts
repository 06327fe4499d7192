import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface QuickStart {
  /** The folder that it starts in. */
  readonly top: string;
  /** What its release says where it is served. */
  readonly baseUrl: string;
  /** What its clock says all the time; that of this machine where it is left out. */
  readonly now?: Date;
  /** Plays an operator with the data key. */
  readonly isKeyed?: boolean;
}

/** Runs `npm start` until it serves, and stops it: what it compiled stays below `root`; its words are told. */
export async function quickStartData({ top, baseUrl, now, isKeyed = false }: QuickStart) {
  mkdirSync(top, { recursive: true });
  const modules = join(top, 'node_modules');
  try {
    symlinkSync(resolve('node_modules'), modules);
  } catch {
    // A second start finds it there.
  }
  const env = {
    PATH: process.env.PATH,
    NO_COLOR: '1',
    SIGNALPRESS_PORT: '0',
    SIGNALPRESS_BASE_URL: baseUrl,
    SIGNALPRESS_TEST_PAYMENTS: '1',
    SIGNALPRESS_SAMPLE_GRID: isKeyed ? '1' : '0',
    ...(now === undefined ? {} : { NODE_OPTIONS: `--import=${clockAt(now)}` }),
  };
  const child = spawn(process.execPath, [resolve('build/scripts/quick-start.js')], {
    cwd: top,
    env,
  });
  let text = '';
  const closed = once(child, 'close');
  const isServing = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.includes('Ctrl-C')) resolve();
      });
    }
  });
  await Promise.race([isServing, closed]);
  child.kill('SIGTERM');
  await closed;
  if (!text.includes('Ctrl-C')) throw new Error(`Cannot start the quick start: ${text}`);
  return { text, root: join(top, '.signalpress/quick-start') };
}

/** A module that stops the clock of its process at an instant. */
function clockAt(instant: Date): string {
  const source = `
    const now = ${instant.getTime()};
    globalThis.Date = class extends Date {
      constructor(...given) {
        super(...(given.length === 0 ? [now] : given));
      }
      static now() {
        return now;
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
