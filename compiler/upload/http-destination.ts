import { CURRENT_LINK, RELEASE_NAME } from '../contract/release.ts';
import type { Destination } from './destination.ts';
import type { HttpFiles } from './http-files.ts';

/** Where a host has the head of the current release; it is the only file that ever changes. */
export const POINTER_PATH = `${CURRENT_LINK}/${RELEASE_NAME}`;

const PARALLEL = 8;

interface HttpDestinationOptions {
  readonly name: string;
  readonly writes: HttpFiles;
  /** What gatekeepers read; another address than that which is written to, where a cache stands in front. */
  readonly reads: HttpFiles;
}

/** A host that takes PUT: nginx with its dav module, WebDAV, or a store behind a gateway. */
export function httpDestination({ name, writes, reads }: HttpDestinationOptions): Destination {
  return {
    name,
    parallel: PARALLEL,
    read: (path, max) => reads.get(path, max),
    write: (path, { bytes }) => writes.put(path, bytes),
    switchTo: (_, head) => writes.put(POINTER_PATH, head.bytes),
    remove: (path) => writes.remove(path),
    async close() {
      await writes.close();
      await reads.close();
    },
  };
}
