import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** The browser of this machine: what CHROMIUM_PATH names, else the first one of the PATH; null where there is none. */
export function chromiumPath(env = process.env): string | null {
  const folders = (env.PATH ?? '').split(delimiter);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [env.CHROMIUM_PATH ?? '', ...found].find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}

/** Starts the browser without a window; throws with what to do where there is none. */
export async function openChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === null) {
    throw new Error(
      'Cannot open a browser: no Chromium in the PATH; install it (Debian: apt-get install chromium), or name it in CHROMIUM_PATH',
    );
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
