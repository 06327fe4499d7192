import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../format/errors.ts';
import { nodeDisk } from '../system/disk.ts';
import { bulkSignatureCheck } from './bulk-signature.ts';
import { readReleaseCatalog } from './description-checks.ts';
import { FileList } from './file-list.ts';
import { KnownHashes } from './known-hashes.ts';
import { checkIndexes } from './release-index.ts';
import { checkChunk, type ShareContext } from './share-check.ts';
import { StoredBodies } from './stored-bodies.ts';
import { isStrictSignature } from './strict-signature.ts';
import type { PoolMessage, PoolTask, WorkerShare } from './verify-pool.ts';

const { root, head, list, known, independent, part } = workerData as WorkerShare;
const files = new FileList(list);
const context: ShareContext = {
  ...readReleaseCatalog(new StoredBodies(nodeDisk, root, files), head),
  disk: nodeDisk,
  root,
  head,
  list: files,
  known: known === null ? null : new KnownHashes(known),
  isSignature: independent ? isStrictSignature : bulkSignatureCheck(),
};

function send(message: PoolMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (task: PoolTask) => {
  try {
    if (task === 'indexes') send({ index: checkIndexes(context, part) });
    else {
      for (let chunk = part.number; chunk < context.list.chunks; chunk += part.of) {
        send({ chunk, result: checkChunk(context, chunk) });
      }
    }
    send({ done: task });
  } catch (error) {
    send({ failure: messageOf(error) });
  }
});
