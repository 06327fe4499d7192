import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { defined } from '../../../../compiler/format/defined.ts';
import { releaseName } from '../../../../compiler/format/release.ts';
import { parseReleaseEntry } from '../../../../compiler/format/release-entry.ts';
import { openLog } from '../../../../compiler/release/log-folder.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { tinyEntries, writeTinyLog } from '../../tiny-log.ts';
import {
  type TinyOptions,
  tinyDataDir,
  tinyFilePath,
  tinyKey,
  writeTinyRelease,
} from '../../tiny-release.ts';

/** Answers in place of the folder; false leaves the answer to the folder. */
export type Spoil = (path: string, response: ServerResponse, request: IncomingMessage) => boolean;

/** A static host on a loopback port that serves a folder, as it is or as a test wants it. */
export interface StaticSite {
  readonly url: string;
  readonly dataDir: string;
  /** What was asked, in order: status and path. */
  readonly asked: string[];
  spoil: Spoil | null;
  /** Closes the port, and every connection. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

const open = new Set<StaticSite>();

/** For `afterEach`: no port stays open. */
export async function closeSites(): Promise<void> {
  for (const site of open) await site.goAway();
  open.clear();
}

export async function staticSite(dataDir: string = tinyDataDir()): Promise<StaticSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    response.on('finish', () => asked.push(`${response.statusCode} ${path}`));
    if (site.spoil?.(path, response, request) === true) return;
    fromFolder(join(dataDir, path), request, response);
  });
  const listen = (port: number) =>
    new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const site: StaticSite = {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    asked,
    spoil: null,
    async goAway() {
      if (!server.listening) return;
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
    comeBack: () => listen(port),
  };
  open.add(site);
  return site;
}

function fromFolder(path: string, request: IncomingMessage, response: ServerResponse): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    response.writeHead(404).end('not here');
    return;
  }
  const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
  response.setHeader('etag', etag);
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (from !== undefined) {
    response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
  } else if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
}

/** Where the host has a listed file of a release, below its address. */
export function storedAt(root: string, path: string): string {
  return tinyFilePath(root, path).slice(dirname(dirname(root)).length + 1);
}

/** Writes a tiny release under the name that its head gives; answers its directory. */
export function writeHostedRelease(dataDir: string, options: TinyOptions = {}): string {
  const made = writeTinyRelease(dataDir, options);
  const head = JSON.parse(readFileSync(join(made, 'release.json'), 'utf8'));
  const root = join(dirname(made), releaseName(head));
  rmSync(root, { recursive: true, force: true });
  renameSync(made, root);
  symlinkSync(join('releases', basename(root)), join(dataDir, 'next'));
  renameSync(join(dataDir, 'next'), join(dataDir, 'current'));
  return root;
}

/** The same, with its entry after those of the log in the folder. */
export function writeLoggedRelease(dataDir: string, options: TinyOptions = {}): string {
  const root = writeHostedRelease(dataDir, options);
  const head = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8'));
  const { sequence, as_of, base_url } = head;
  const [entry] = tinyEntries([[]], { as_of, head: canonicalHash(head) });
  const before = (openLog(dataDir)?.edge.bundle ?? []).map(parseReleaseEntry);
  const entries = [...before, { ...defined(entry, 'the entry'), sequence }];
  const parts = { taken: [], baseUrl: base_url, signer: tinyKey(options.seed) };
  writeTinyLog(
    dataDir,
    entries.map((each) => defined(each, 'an entry')),
    parts,
  );
  return root;
}
