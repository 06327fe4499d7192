import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const GATEKEEPER = join(import.meta.dirname, '../../gatekeeper');

/** The files that a source loads with itself: neither types nor what is loaded late. */
const LOADED = /^import (?!type )[^']*? from '(\.[^']+)';$/gms;

function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(GATEKEEPER, path), 'utf8');
  const names = [...text.matchAll(LOADED)].map(([, name = '']) => name);
  return names.map((name) => normalize(join(dirname(path), name)));
}

/** A file of the gatekeeper with all that it loads. */
function loadedBy(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path) || path.startsWith('..')) return seen;
  seen.add(path);
  for (const imported of importsOf(path)) loadedBy(imported, seen);
  return seen;
}

describe('the way from a socket to a file and its price', () => {
  const way = loadedBy('answers/respond.ts', loadedBy('http/server.ts'));

  it('loads nothing that rooms.ts names', () => {
    const rooms = importsOf('rooms.ts');
    expect(rooms.length).toBeGreaterThan(15);
    expect(rooms.filter((path) => way.has(path))).toEqual([]);
  });

  it('loads nothing of the folders beside it', () => {
    const folders = new Set([...way].map((path) => path.split('/')[0] ?? ''));
    const beside = ['mcp', 'metrics', 'remote', 'dashboard', 'doctor', 'workers', 'journal'];
    expect(beside.filter((folder) => folders.has(folder))).toEqual([]);
  });

  it('is read through all of its files, as the rooms are', () => {
    expect([...way]).toEqual(expect.arrayContaining(['http/reply.ts', 'release/read-body.ts']));
    expect([...loadedBy('rooms.ts')]).toEqual(expect.arrayContaining(['mcp/json-rpc.ts']));
  });
});
