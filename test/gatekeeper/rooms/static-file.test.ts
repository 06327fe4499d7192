import { beforeAll, describe, expect, it } from 'vitest';
import { respond } from '../../../gatekeeper/answers/respond.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import type { HttpRequest } from '../../../gatekeeper/http/request.ts';
import { loggedFiles, loggedService } from '../logged-service.ts';

let service: Service;
beforeAll(async () => {
  service = await loggedService();
});

const ask = async (target: string, method = 'GET') => {
  const request: HttpRequest = {
    method,
    target,
    facts: headerFacts([]),
    spend: FOR_EVERYBODY,
    readBody: async () => Buffer.alloc(0),
  };
  const { reply, etag } = await respond(request, service);
  return { ...reply, etag, header: (name: string) => reply.headers.find(([n]) => n === name)?.[1] };
};

describe('staticFile()', () => {
  it('serves every file of the log but its index at its path, byte for byte', async () => {
    const files = [...loggedFiles()].filter(([path]) => /^log\/(?!index\/)/.test(path));
    for (const [path, bytes] of files) {
      const { status, body, etag } = await ask(`/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(Buffer.from(body)).toEqual(bytes);
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    }
    expect(files.length).toBeGreaterThan(8);
  });

  it('I52: gives nobody the index of the log, which says more than is free', async () => {
    const paths = [...loggedFiles().keys()].filter((path) => path.startsWith('log/index/'));
    expect(paths).toEqual(['log/index/0-354/0.txt']);
    expect((await ask(`/${paths[0]}`)).status).toBe(404);
  });

  it('lets tiles be kept for ever and a checkpoint for a minute', async () => {
    const tile = await ask('/log/tile/0/000');
    expect(tile.header('cache-control')).toBe('public, max-age=604800, immutable');
    const checkpoint = await ask('/log/checkpoint');
    expect(checkpoint.header('cache-control')).toBe('public, max-age=60');
    expect(checkpoint.header('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('knows no other path: nothing is decoded, joined or listed', async () => {
    const paths = [
      '/log',
      '/log/',
      '/log/tile/',
      '/log/tile/0/000/',
      '/log/tile/0//000',
      '/log/tile/../checkpoint',
      '/log/tile/%30/000',
      '/log/%63heckpoint',
      '/log/checkpoint/',
      '/log/anchor/x.json',
      '/log/../release.json',
      '/log/tile/../../release.json',
      '/log/batches/../../index/catalog.txt',
      '/LOG/checkpoint',
      '//log/checkpoint',
      '/log/tile/0/000.p/256',
    ];
    for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, 404]);
  });

  it('answers HEAD and OPTIONS, and refuses every other method', async () => {
    expect((await ask('/log/checkpoint', 'HEAD')).status).toBe(200);
    expect((await ask('/log/checkpoint', 'OPTIONS')).status).toBe(204);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, header } = await ask('/log/checkpoint', method);
      expect([status, header('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });
});
