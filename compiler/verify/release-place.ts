import type { Catalog } from '../catalog/catalog.ts';
import { parseFilePath, type Values } from '../products/shapes/path.ts';
import type { Endpoint } from '../products/shapes/product.ts';

/** The operation whose answer a file is, with the parameters that its path stands for. */
export interface FilePlace {
  readonly endpoint: Endpoint;
  readonly values: Values;
  /** Folder of another compiled form, like `thin`, or ''. */
  readonly form: string;
}

/** Where a published path belongs, or null for a file that answers no operation by itself. */
export function placeOf(path: string, { folders }: Pick<Catalog, 'folders'>): FilePlace | null {
  const { byFolder, variants } = folders;
  const [first = ''] = path.split('/', 1);
  const form = variants.has(first) ? first : '';
  const plain = form === '' ? path : path.slice(form.length + 1);
  const [folder = ''] = plain.split('/', 1);
  for (const endpoint of byFolder.get(folder) ?? []) {
    const values = parseFilePath(endpoint, plain);
    if (values !== null) return { endpoint, values, form };
  }
  return null;
}
