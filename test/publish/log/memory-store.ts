import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { completeLevels, HASH_BYTES, subtreesOf } from '../../../compiler/format/merkle.ts';
import { type ReleaseEntry, takenLeaf, treeHead } from '../../../compiler/format/release-entry.ts';
import { takenPath } from '../../../compiler/format/tiles.ts';
import { type OpenLog, openLog } from '../../../compiler/release/log-folder.ts';
import { hexOf, sha256 } from '../../../compiler/release/log-tree.ts';
import { jcs } from '../../../compiler/system/jcs.ts';

/** A store of one object that knows `If-Match` and `If-None-Match`; `puts` are the statuses of what was written. */
export async function memoryStore({
  auth,
  isWeak = false,
}: {
  auth?: string;
  isWeak?: boolean;
} = {}) {
  const state = { text: null as string | null, puts: [] as number[] };
  const tag = (): string | null =>
    state.text === null
      ? null
      : `${isWeak ? 'W/' : ''}"${hash('sha256', state.text).slice(0, 16)}"`;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (status: number, body = ''): void => {
      if (request.method === 'PUT') state.puts.push(status);
      const etag = tag();
      response.writeHead(status, etag === null ? {} : { etag });
      response.end(body);
    };
    const { 'if-match': match, 'if-none-match': none, authorization } = request.headers;
    if (auth !== undefined && authorization !== auth) return answer(401);
    if (request.method === 'GET') {
      return state.text === null ? answer(404) : answer(200, state.text);
    }
    const isFree = none === '*' && state.text === null;
    if (!isFree && (match === undefined || match !== tag())) return answer(412);
    state.text = Buffer.concat(chunks).toString();
    answer(200);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/memory`,
    puts: state.puts,
    text: () => state.text,
    hold(text: string | null) {
      state.text = text;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a reader saw of a log. */
export interface SeenLog {
  /** The newest checkpoint; size 0 before the first. */
  size: number;
  rootHex: string;
  /** The entry of each release that a checkpoint stated. */
  readonly entries: Record<number, string>;
}

export function seenLog(): SeenLog {
  return { size: 0, rootHex: '', entries: {} };
}

/** Reads the log as its checkpoint states it, and says where that is no growth of what was seen. */
export function readLog(data: string, seen: SeenLog, wrong: (what: string) => void): void {
  try {
    const log = openLog(data);
    if (log !== null) compareLog(data, log, { seen, wrong });
    else if (seen.size > 0) wrong('the log is gone');
  } catch (error) {
    wrong(`the log: ${error instanceof Error ? error.message : error}`);
  }
}

function compareLog(
  data: string,
  log: OpenLog,
  { seen, wrong }: { readonly seen: SeenLog; readonly wrong: (what: string) => void },
): void {
  const { size, root } = log.signed;
  if (size < seen.size) {
    wrong(`the log has ${size} entries, and had ${seen.size}`);
    return;
  }
  const start = hexOf(log.hashOf({ start: 0, end: seen.size }));
  if (seen.size > 0 && start !== seen.rootHex) wrong(`the log forks at ${seen.size} entries`);
  Object.assign(seen, { size, rootHex: hexOf(root) });
  let entry: ReleaseEntry | null = log.last;
  for (; entry !== null; entry = log.entryOf(entry.sequence - 1)) {
    const { sequence } = entry;
    const text = jcs(entry);
    const before = seen.entries[sequence];
    if (before === text) break;
    if (before !== undefined) wrong(`release ${sequence} has another entry`);
    seen.entries[sequence] = text;
    if (!isTaken(data, entry)) wrong(`${takenPath(sequence)} is not what its entry states`);
  }
}

/** Whether what a release took in stands beside the log. */
function isTaken(data: string, { sequence, new: stated }: ReleaseEntry): boolean {
  if (stated.count === 0) return true;
  const bytes = readFileSync(join(data, takenPath(sequence)));
  const leaves = Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    takenLeaf(`sha256:${bytes.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES)}`, sha256),
  );
  const levels = completeLevels(leaves, sha256);
  const hashes = subtreesOf({ start: 0, end: leaves.length }).map(
    ({ height, index }) => levels[height]?.[index] ?? new Uint8Array(0),
  );
  return jcs(treeHead(leaves.length, hashes, sha256)) === jcs(stated);
}
