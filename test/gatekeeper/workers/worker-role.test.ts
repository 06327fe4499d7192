import { describe, expect, it } from 'vitest';
import { workerRole, workerVariables } from '../../../gatekeeper/workers/worker-role.ts';

describe('workerRole()', () => {
  it.each([[{ place: 0, fd: null }], [{ place: 12, fd: 3 }]])(
    'reads what workerVariables() writes: %j',
    (role) => {
      expect(workerRole(workerVariables(role))).toEqual(role);
    },
  );

  it.each([['x'], ['-1'], ['1:'], ['']])('takes %j for none', (text) => {
    expect(workerRole({ GATE_WORKER: text })).toBe(null);
  });
});
