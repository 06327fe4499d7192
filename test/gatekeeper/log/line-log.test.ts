import { describe, expect, it } from 'vitest';
import { lineLog } from '../../../gatekeeper/log/line-log.ts';
import { readLog } from './log-stream.ts';

const LOG_WAITING_MAX = 4 * 1024 * 1024;

const clock = (): number => 0;

describe('lineLog()', () => {
  it('I40: writes one JSON object a line, whatever controls are in it', () => {
    const { read, output } = readLog();
    const log = lineLog(output, { clock });
    const path = '/a\n\r\u0000\u001b\u007f\u0085\u009b\u2028\u2029"\\é';
    log({ event: 'x', path });
    log({ event: 'y' });
    output.flush();
    expect(read.entries).toHaveLength(2);
    expect(read.entries[0]).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      event: 'x',
      path,
    });
    expect(read.text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });

  it('writes an error at once, with what came before it', () => {
    const { read, output } = readLog();
    const log = lineLog(output, { clock });
    log({ event: 'started' });
    expect(read.writes).toEqual([]);
    log({ event: 'payment_failed' });
    expect(read.entries.map(({ event }) => event)).toEqual(['started', 'payment_failed']);
  });

  it.each([
    ['info', ['started', undefined, 'no_verdict', 'crashed']],
    ['warn', ['no_verdict', 'crashed']],
    ['error', ['crashed']],
  ] as const)('leaves out what matters less than "%s"', (level, events) => {
    const { read, output } = readLog();
    const log = lineLog(output, { clock, level });
    log({ event: 'started' });
    log({ status: 200 });
    log({ event: 'no_verdict' });
    log({ event: 'crashed' });
    output.flush();
    expect(read.entries.map(({ event }) => event)).toEqual(events);
  });

  it('says how many lines a reader that hung did not get, once it reads again', () => {
    const { read, output } = readLog();
    const log = lineLog(output, { clock });
    read.isReading = false;
    const path = 'x'.repeat(1000);
    const tries = Math.ceil((2 * LOG_WAITING_MAX) / path.length);
    for (let at = 0; at < tries; at += 1) log({ path });
    read.goOn();
    log({ event: 'started' });
    output.flush();
    const reported = read.entries.at(-2);
    const kept = read.entries.length - 2;
    expect(reported).toMatchObject({ event: 'log_lines_lost', level: 'warn', lines: tries - kept });
    log({ event: 'stopped' });
    output.flush();
    expect(read.entries.slice(-2).map(({ event }) => event)).toEqual(['started', 'stopped']);
  });
});
