import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A host on a loopback port that keeps what is put there. */
export interface PutSite {
  readonly url: string;
  readonly folder: string;
  /** Method and path of what was done, in order. */
  readonly asked: string[];
  readonly authorizations: Set<string>;
  /** This many PUTs more succeed, then all fail; null for no end. */
  failAfter: number | null;
  /** Answer to every PUT in place of keeping it. */
  status: number | null;
  /** This many answers more are "busy". */
  busy: number;
  slowMs: number;
  /** What is kept of a file. */
  keeps: (path: string, bytes: Buffer) => Buffer;
}

const closers = new Set<() => Promise<void>>();

/** For `afterEach`. */
export async function closePutSites(): Promise<void> {
  for (const close of closers) await close();
  closers.clear();
}

export async function putSite(): Promise<PutSite> {
  const site = {
    folder: mkdtempSync(join(tmpdir(), 'put-')),
    asked: [] as string[],
    authorizations: new Set<string>(),
    failAfter: null as number | null,
    status: null as number | null,
    busy: 0,
    slowMs: 0,
    keeps: (_: string, bytes: Buffer) => bytes,
  };
  const server = createServer((request, response) => void answer(site, request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closers.add(
    () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return Object.assign(site, { url: `http://127.0.0.1:${port}` });
}

async function answer(
  site: Omit<PutSite, 'url'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').slice(1);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (site.busy > 0) {
    site.busy -= 1;
    response.writeHead(503).end();
    return;
  }
  site.authorizations.add(request.headers.authorization ?? '');
  await sleep(site.slowMs);
  if (request.method === 'GET') give(join(site.folder, path), response);
  else if (request.method === 'DELETE') {
    rmSync(join(site.folder, path), { force: true });
    response.writeHead(204).end();
  } else put(site, path, { bytes: Buffer.concat(chunks), response });
}

function give(full: string, response: ServerResponse): void {
  try {
    response.end(readFileSync(full));
  } catch {
    response.writeHead(404).end();
  }
}

function put(
  site: Omit<PutSite, 'url'>,
  path: string,
  { bytes, response }: { readonly bytes: Buffer; readonly response: ServerResponse },
): void {
  if (site.status !== null) {
    response.writeHead(site.status).end();
    return;
  }
  if (site.failAfter !== null) {
    site.failAfter -= 1;
    if (site.failAfter < 0) {
      response.writeHead(507).end();
      return;
    }
  }
  const full = join(site.folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, site.keeps(path, bytes));
  site.asked.push(`PUT ${path}`);
  response.writeHead(201).end();
}
