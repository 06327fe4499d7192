import type { Values } from '../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { type ReleaseIndex, requestFile } from './release-index.ts';

/** Names of the parameters that the file of a row is called after: whom and what it is about. */
export function slotsOf({ file = '' }: Endpoint): string[] {
  return Array.from(file.matchAll(/\{([a-z_]+)\}/g), ([, slot = '']) => slot);
}

/** Whether a request of this row can be answered on this release. */
export function sellsNow({ path }: Endpoint, { offers }: ReleaseIndex): boolean {
  return offers.get(path)?.sellsNow === true;
}

/** Whether a file of a row is stored for values that name all of it. */
export function isStored(row: Endpoint, values: Values, release: ReleaseIndex): boolean {
  const slots = slotsOf(row);
  const isNamed = slots.length > 0 && slots.every((slot) => values[slot] !== undefined);
  return isNamed && sellsNow(row, release) && release.has(requestFile(row, values));
}

/** The values that a file is named by, with whatever else the request must say: as in the example of the release. */
export function askedFor(endpoint: Endpoint, values: Values, { offers }: ReleaseIndex): Values {
  const example = new URL(offers.get(endpoint.path)?.request ?? '/', 'http://release').searchParams;
  const missing = Object.entries(endpoint.params).flatMap(([name, { required }]) => {
    const value = required && values[name] === undefined ? example.get(name) : null;
    return value === null ? [] : [[name, value] as const];
  });
  return { ...values, ...Object.fromEntries(missing) };
}
