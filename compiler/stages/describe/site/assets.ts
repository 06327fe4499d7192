import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SITE_FOLDER } from '../../../contract/site.ts';
import { PACKAGE_FOLDER } from '../../../package-folder.ts';
import { readPlain, STORED_BYTES_MAX } from '../../../verify/plain-file.ts';

/** The bundled browser program, as `npm run build` left it. */
export interface Assets {
  /** Path in the release, bytes; a long file comes under each coding too. */
  readonly files: readonly (readonly [path: string, bytes: Buffer])[];
  /** URL paths of what the index loads. */
  readonly script: string;
  readonly styles: readonly string[];
}

const BUILT = join(PACKAGE_FOLDER, 'build', 'compiler', 'site');

let known: Assets | null = null;

/** Reads the bundle once; throws a RangeError where it was not built. */
export function siteAssets(): Assets {
  known ??= readAssets(BUILT);
  return known;
}

function readAssets(folder: string): Assets {
  const list = join(folder, 'bundle.json');
  if (!existsSync(list)) {
    throw new RangeError(`Cannot find the page's program at "${list}"; run npm run build`);
  }
  const { script, styles } = JSON.parse(readPlain(list, STORED_BYTES_MAX).toString('utf8')) as {
    readonly script: string;
    readonly styles: readonly string[];
  };
  const names = readdirSync(join(folder, 'assets')).sort();
  const files = names.map((name): [string, Buffer] => {
    return [
      `${SITE_FOLDER}/assets/${name}`,
      readPlain(join(folder, 'assets', name), STORED_BYTES_MAX),
    ];
  });
  const url = (name: string): string => `/${SITE_FOLDER}/${name}`;
  return { files, script: url(script), styles: styles.map(url) };
}
