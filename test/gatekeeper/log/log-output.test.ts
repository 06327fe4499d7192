import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readLog } from './log-stream.ts';

const LOG_DRAIN_MS = 1000;
const LOG_WAITING_MAX = 4 * 1024 * 1024;
const LOG_BATCH_MS = 100;
const LOG_BATCH_CHARS = 4096;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('LogOutput', () => {
  it('collects lines until the time is over, and not longer', () => {
    const { read, output } = readLog();
    output.write('a\n');
    output.write('b\n');
    vi.advanceTimersByTime(LOG_BATCH_MS - 1);
    expect(read.writes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(read.writes).toEqual(['a\nb\n']);
    vi.advanceTimersByTime(10 * LOG_BATCH_MS);
    expect(read.writes).toHaveLength(1);
  });

  it('writes whole lines of at most as much as a pipe takes at once', () => {
    const { read, output } = readLog();
    const line = `${'x'.repeat(99)}\n`;
    for (let at = 0; at < 1000; at += 1) output.write(line);
    output.flush();
    expect(read.text).toBe(line.repeat(1000));
    expect(read.writes.length).toBeLessThanOrEqual(1000 / Math.floor(LOG_BATCH_CHARS / 100));
    for (const text of read.writes) {
      expect(text.length).toBeLessThanOrEqual(LOG_BATCH_CHARS);
      expect(text.endsWith('\n')).toBe(true);
    }
  });

  it('writes a line that is longer than a batch', () => {
    const { read, output } = readLog();
    output.write('a\n');
    output.write(`${'x'.repeat(2 * LOG_BATCH_CHARS)}\n`);
    output.write('b\n');
    output.flush();
    expect(read.text).toBe(`a\n${'x'.repeat(2 * LOG_BATCH_CHARS)}\nb\n`);
  });

  it('keeps no more than its bound for a reader that hangs, and counts what it leaves out', () => {
    const { read, output } = readLog();
    read.isReading = false;
    const line = `${'x'.repeat(1023)}\n`;
    const tries = (2 * LOG_WAITING_MAX) / 1024;
    for (let at = 0; at < tries; at += 1) output.write(line);
    expect(read.writableLength).toBeLessThanOrEqual(LOG_WAITING_MAX + LOG_BATCH_CHARS);
    expect(output.takeLost()).toBe(0);
    read.goOn();
    output.flush();
    const kept = read.text.length / 1024;
    expect(output.takeLost()).toBe(tries - kept);
    expect(output.takeLost()).toBe(0);
  });

  it('loses nothing at a stop', async () => {
    const { read, output } = readLog();
    output.write('a\n');
    await output.close();
    expect(read.text).toBe('a\n');
  });

  it('does not wait for ever for a reader that hangs', async () => {
    const { read, output } = readLog();
    read.isReading = false;
    output.write('a\n');
    let isOver = false;
    const closed = output.close().then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(LOG_DRAIN_MS - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect(isOver).toBe(true);
  });
});
