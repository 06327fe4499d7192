import { describe, expect, it } from 'vitest';
import { nodeProblem } from '../../scripts/check-node.ts';

describe('nodeProblem()', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '24.11.1'])('takes Node %s', (version) => {
    expect(nodeProblem(version, '>=20.19')).toBeNull();
  });

  it.each(['18.20.8', '20.18.3', '20.9.0'])('refuses Node %s and says what to do', (version) => {
    expect(nodeProblem(version, '>=20.19')).toContain(`"${version}": 20.19 or newer is needed`);
  });
});
