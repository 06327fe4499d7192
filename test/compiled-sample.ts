import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN } from '../compiler/contract/catalog/builtin.ts';
import { storedPath } from '../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../compiler/contract/release.ts';
import { type FilePlace, placeOf } from '../compiler/verify/release-place.ts';
import { SAMPLE_HOUR, sampleFolder } from './sample-folder.ts';
import { sharedFolder } from './shared-folder.ts';
import { compileFolder, readJson } from './snapshot-folder.ts';

/** The whole sample, compiled once for all test files of a run; nothing is written into its folder. */
export interface CompiledSample {
  readonly data: string;
  readonly folder: string;
  readonly did: string;
  readonly paths: readonly string[];
  text(path: string): string;
}

export async function compiledSample(): Promise<CompiledSample> {
  const made = await sharedFolder('compiled-sample', async (own) => {
    const data = join(own, 'data');
    await compileFolder(await sampleFolder(), { data, asOf: SAMPLE_HOUR });
  });
  const data = join(made, 'data');
  const folder = realpathSync(join(data, 'current'));
  const { issuer_did } = readJson(folder, 'release.json');
  const listed = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const places = new Map(listed.map(({ path, sha256 }) => [path, storedPath(path, sha256)]));
  const text = (path: string): string => readFileSync(join(data, places.get(path) ?? path), 'utf8');
  return { data, folder, did: issuer_did, paths: [...places.keys()], text };
}

/** A published body with the operation that it answers, and which of its forms it is. */
export interface SampleBody extends FilePlace {
  readonly path: string;
  /** Folder in front: `thin`, `verifiable`; '' for the usual form. */
  readonly form: string;
}

const FORMS = new Set(
  BUILTIN.operations.flatMap((row) =>
    Object.values(row.params).flatMap((param) => Object.values(param.variant ?? {})),
  ),
);

/** JSON files that answer an operation. */
export function sampleBodies(paths: readonly string[]): SampleBody[] {
  return paths.flatMap((path) => {
    const place = path.endsWith('.json') ? placeOf(path, BUILTIN) : null;
    const [first = ''] = path.split('/', 1);
    return place === null ? [] : [{ ...place, path, form: FORMS.has(first) ? first : '' }];
  });
}
