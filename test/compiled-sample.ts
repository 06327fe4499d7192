import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENDPOINTS, type Endpoint } from '../compiler/contract/endpoints.ts';
import { storedPath } from '../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../compiler/contract/release.ts';
import { type Place, placeOf } from '../compiler/verify/release-place.ts';
import { SAMPLE_AS_OF } from '../scripts/sample/sample-times.ts';
import { sampleFolder } from './sample-folder.ts';
import { compileFolder } from './snapshot-folder.ts';

/** The whole sample, compiled into a folder of its own; takes seconds. */
export interface CompiledSample {
  readonly data: string;
  readonly folder: string;
  readonly did: string;
  readonly paths: readonly string[];
  text(path: string): string;
}

export async function compiledSample(): Promise<CompiledSample> {
  const { data, folder, release } = await compileFolder(sampleFolder(), { asOf: SAMPLE_AS_OF });
  const listed = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
  const places = new Map(listed.map(({ path, sha256 }) => [path, storedPath(path, sha256)]));
  const text = (path: string): string => readFileSync(join(data, places.get(path) ?? path), 'utf8');
  return { data, folder, did: release.issuer_did, paths: [...places.keys()], text };
}

/** A published body with the operation that it answers, and which of its forms it is. */
export interface SampleBody extends Place {
  readonly path: string;
  /** Folder in front: `thin`, `verifiable`; '' for the usual form. */
  readonly form: string;
}

const FORMS = new Set(
  (ENDPOINTS as readonly Endpoint[]).flatMap((row) =>
    Object.values(row.params).flatMap((param) => Object.values(param.variant ?? {})),
  ),
);

/** JSON files that answer an operation. */
export function sampleBodies(paths: readonly string[]): SampleBody[] {
  return paths.flatMap((path) => {
    const place = path.endsWith('.json') ? placeOf(path) : null;
    const [first = ''] = path.split('/', 1);
    return place === null ? [] : [{ ...place, path, form: FORMS.has(first) ? first : '' }];
  });
}
