import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// Where the program finds itself: it runs from its sources, as TypeScript compiled them, or from a bundle of them.

const HERE = import.meta.dirname;

/** The files that this program is made of: the folder of the bundle, else all of `compiler`. */
export const PROGRAM_FOLDER: string = basename(HERE) === 'system' ? dirname(HERE) : HERE;

/** The folder with package.json. */
export const PACKAGE_FOLDER: string = packageAbove(PROGRAM_FOLDER);

function packageAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (dirname(folder) !== folder) return packageAbove(dirname(folder));
  throw new RangeError(
    `Cannot find package.json above "${PROGRAM_FOLDER}"; install the whole package again`,
  );
}
