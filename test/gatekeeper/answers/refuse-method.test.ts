import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { refuseMethod } from '../../../gatekeeper/answers/refuse-method.ts';

describe('refuseMethod()', () => {
  const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

  const rows = BUILTIN.operations.filter((row) => row.answer !== 'gone');
  it.each(rows.map((row) => [row.path, row] as const))(
    'lets %s be asked with its own method and no other',
    (path, row) => {
      const shown = row.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [row.method];
      const legal = [...shown, 'OPTIONS'];
      for (const method of methods) {
        const reply = refuseMethod(path.replace(/:[a-z_]+$/, 'sha256:00'), method, BUILTIN);
        const allow = reply?.headers.find(([name]) => name === 'allow')?.[1];
        const want = legal.includes(method) ? [undefined, undefined] : [405, shown.join(', ')];
        expect([reply?.status, allow]).toEqual(want);
      }
    },
  );

  it('answers a retired path with 410 and an unknown one with 404, whatever the method', () => {
    for (const method of methods) {
      expect(refuseMethod('/merkle/proof', method, BUILTIN)?.status).toBe(410);
      expect(refuseMethod('/nowhere', method, BUILTIN)?.status).toBe(404);
    }
  });

  it.each(['/GAUGE', '/gauge/', '//gauge', '/gauge;a', '/%67auge', '/gauge%2Fair', '/./gauge'])(
    'I6: knows no alias %s of a paid path',
    (path) => {
      expect(refuseMethod(path, 'GET', BUILTIN)?.status).toBe(404);
    },
  );
});
