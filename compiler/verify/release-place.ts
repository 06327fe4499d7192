import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Endpoint } from '../contract/endpoints.ts';
import { parseFilePath, type Values } from '../contract/path.ts';

/** The operation whose answer a file is, with the parameters that its path stands for. */
export interface Place {
  readonly endpoint: Endpoint;
  readonly values: Values;
}

/** Operations by the first segment of their file. */
const BY_FOLDER = new Map<string, Endpoint[]>();
/** Folders of other compiled forms, like `thin`. */
const VARIANTS = new Set<string>();
for (const endpoint of BUILTIN.operations) {
  const folder = endpoint.file?.split('/', 1)[0];
  if (folder !== undefined) BY_FOLDER.set(folder, [...(BY_FOLDER.get(folder) ?? []), endpoint]);
  for (const param of Object.values(endpoint.params)) {
    for (const variant of Object.values(param.variant ?? {})) VARIANTS.add(variant);
  }
}

/** Where a published path belongs, or null for a file that answers no operation by itself. */
export function placeOf(path: string): Place | null {
  const [first = ''] = path.split('/', 1);
  const plain = VARIANTS.has(first) ? path.slice(first.length + 1) : path;
  const [folder = ''] = plain.split('/', 1);
  for (const endpoint of BY_FOLDER.get(folder) ?? []) {
    const values = parseFilePath(endpoint, plain);
    if (values !== null) return { endpoint, values };
  }
  return null;
}
