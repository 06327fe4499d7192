import { describe, expect, it } from 'vitest';
import { undetermined } from '../../../gatekeeper/rooms/json-content.ts';
import { jsonOf, tinyService } from '../tiny-service.ts';

describe('undetermined()', () => {
  it('I32: is a 503 worth repeating that repeats what was asked and nothing of the error', async () => {
    const logged: unknown[] = [];
    const service = { ...(await tinyService()), log: (entry: unknown) => logged.push(entry) };
    const asked = { endpoint: 'gauge/verify', hash: 'sha256:abababab' };
    const answered = undetermined(asked, new Error('EIO on /secret'), service);
    expect(jsonOf(answered)).toMatchObject({
      ...asked,
      status: 503,
      undetermined: true,
      retryable: true,
    });
    expect(JSON.stringify(jsonOf(answered))).not.toContain('EIO');
    expect(logged).toEqual([{ event: 'look_up_failed', error: 'EIO on /secret' }]);
  });
});
