import { describe, expect, it } from 'vitest';
import { LOG_BUFFER_LINES, lineLog } from '../../../gatekeeper/http/line-log.ts';

describe('lineLog()', () => {
  it('I40: writes one JSON object a line, whatever controls are in it', () => {
    let text = '';
    const log = lineLog(
      (chunk) => {
        text += chunk;
      },
      () => 0,
    );
    const path = '/a\n\r\u0000\u001b\u007f\u0085\u009b\u2028\u2029"\\é';
    log({ event: 'x', path });
    log({ event: 'y' });
    log.flush();
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      event: 'x',
      path,
    });
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });

  it('writes in batches and leaves nothing behind', async () => {
    const chunks: string[] = [];
    const log = lineLog((chunk) => chunks.push(chunk), Date.now);
    for (let at = 0; at < LOG_BUFFER_LINES + 1; at += 1) log({ at });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(chunks.length).toBeLessThanOrEqual(2);
    expect(chunks.join('').split('\n')).toHaveLength(LOG_BUFFER_LINES + 2);
  });
});
