import type { Catalog } from '../contract/catalog/catalog.ts';
import { parseFilePath, type Values } from '../contract/path.ts';
import type { Endpoint } from '../products/product.ts';

/** The operation whose answer a file is, with the parameters that its path stands for. */
export interface FilePlace {
  readonly endpoint: Endpoint;
  readonly values: Values;
  /** Folder of another compiled form, like `thin`, or ''. */
  readonly form: string;
}

interface Folders {
  /** Operations by the first segment of their file. */
  readonly byFolder: ReadonlyMap<string, readonly Endpoint[]>;
  /** Folders of other compiled forms, like `thin`. */
  readonly variants: ReadonlySet<string>;
}

/** Made once for a catalogue, since each file of a release is looked up. */
const known = new WeakMap<Catalog, Folders>();

/** Where a published path belongs, or null for a file that answers no operation by itself. */
export function placeOf(path: string, catalog: Catalog): FilePlace | null {
  const made = known.get(catalog) ?? foldersIn(catalog);
  known.set(catalog, made);
  const { byFolder, variants } = made;
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

function foldersIn({ operations }: Catalog): Folders {
  const byFolder = new Map<string, Endpoint[]>();
  const variants = new Set<string>();
  for (const endpoint of operations) {
    const folder = endpoint.file?.split('/', 1)[0];
    if (folder !== undefined) byFolder.set(folder, [...(byFolder.get(folder) ?? []), endpoint]);
    for (const param of Object.values(endpoint.params)) {
      for (const variant of Object.values(param.variant ?? {})) variants.add(variant);
    }
  }
  return { byFolder, variants };
}
