import type { Catalog } from '../../contract/catalog/catalog.ts';
import type { InputFault } from '../intake/compile-error.ts';
import type { Snapshots } from '../intake/list-snapshots.ts';
import type { Press } from '../publish/press.ts';

/** Whether the release holds a file of this path. */
export type IsStored = (path: string) => boolean;

/** A part of a release that comes from collections: all of them are read before any of them is written. */
export interface CollectionPart {
  readonly faults: readonly InputFault[];
  /** How many rows were read. */
  readonly rows: number;
  /** `isStored` knows the files of the release that come from signals, so that no body names what is not there. */
  write(press: Press, isStored: IsStored): void;
}

/** Reads the collections that a part is made of; `asOf` is the instant that the compile speaks about. */
export type ReadPart = (
  collections: Snapshots['collections'],
  asOf: string,
  catalog: Catalog,
) => CollectionPart;
