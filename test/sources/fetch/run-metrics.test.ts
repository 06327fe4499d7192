import { expect, it } from 'vitest';
import { runMetrics } from '../../../compiler/sources/fetch/run-metrics.ts';
import { NO_SOURCE_STATUS } from '../../../compiler/sources/fetch/sources-runner.ts';
import { samplesIn } from '../../gatekeeper/settings/scrape.ts';

const COMPILE = { is_due: true, last_success: null, last_error: null, release: null };

it('runMetrics() tells of each source, and nothing of a time that is not known', () => {
  const sources = {
    eia: { ...NO_SOURCE_STATUS, consecutive_failures: 2, next_due: '2026-11-29T11:20:00Z' },
    spc: { ...NO_SOURCE_STATUS, unread: 3 },
  };
  const status = { version: 1, updated_at: null, imported_through: null, warned_on: null } as const;
  const text = runMetrics({ ...status, compile: COMPILE, sources });
  const shown = samplesIn(text).map(({ name, labels, value }) => [name, labels.source, value]);
  expect(shown).toEqual([
    ['signalpress_source_failures', 'eia', 2],
    ['signalpress_source_failures', 'spc', 0],
    ['signalpress_source_due_time_seconds', 'eia', 1_795_951_200],
    ['signalpress_source_unread', 'eia', 0],
    ['signalpress_source_unread', 'spc', 3],
    ['signalpress_compile_failed', undefined, 0],
  ]);
  const failed = runMetrics({
    ...status,
    compile: { ...COMPILE, last_error: 'disk full' },
    sources: {},
  });
  expect(samplesIn(failed)).toEqual([{ name: 'signalpress_compile_failed', labels: {}, value: 1 }]);
});
