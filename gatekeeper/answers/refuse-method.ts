import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { findRow } from '../../compiler/contract/route.ts';
import { jsonReply, type Reply } from '../http/reply.ts';

/** Answers of step 1: unknown path, retired path, method that is not the row's own; null when the row may go on. */
export function refuseMethod(path: string, method: string, catalog: Catalog): Reply | null {
  const found = findRow(path, catalog);
  if (found === undefined) return notFound(path);
  if (found.row.answer === 'gone') return gone();
  const allowed = methodsOf(found.row);
  if (allowed.includes(method) || method === 'OPTIONS') return null;
  const error = `${method} is not a method of ${found.row.path}; send ${found.row.method}`;
  return jsonReply(405, { error, allow: allowed }, [['allow', allowed.join(', ')]]);
}

/** Methods that a row answers, its own first. */
function methodsOf(row: Endpoint): readonly string[] {
  return row.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [row.method];
}

/** The answer for an unknown path. */
export function notFound(path: string): Reply {
  const error = `No operation at "${path.slice(0, 200)}"; the free catalog lists what is sold`;
  return jsonReply(404, { error, catalog: '/gauge/catalog', manifest: '/manifest' });
}

/** The answer of a retired path. */
export function gone(): Reply {
  return jsonReply(410, {
    error: 'Retired; do not retry. Batches are listed at /gauge/anchor',
    no_charge: true,
  });
}
