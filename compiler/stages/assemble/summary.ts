import type { Signal } from '../../contract/lines.ts';
import type { StandardRuler } from '../../contract/record.ts';
import { metricUnit } from '../../contract/units.ts';
import { isOfficial } from '../derive/ruler.ts';
import type { Season } from '../derive/season.ts';
import type { Reading } from '../intake/reading.ts';

/** The main metric as people write it: `13.6 ft`. */
export function valueText(signal: Signal, reading: Reading): string {
  const [metric] = signal.metrics;
  const value = reading.current[metric];
  const { label } = metricUnit(metric);
  if (value === null || value === undefined) return 'no value';
  return label === '' ? String(value) : `${String(value)} ${label}`;
}

export function nameOf(reading: Reading): string {
  return reading.entity_name ?? reading.entity;
}

function percentText(season: Season): string {
  return `${Math.round(season.percentile * 100)}`;
}

/** One descriptive English line; undefined when there is neither ruler nor statistics. */
export function summaryEn(
  signal: Signal,
  reading: Reading,
  placed: { ruler: StandardRuler | null; season: Season | null },
): string | undefined {
  const { ruler, season } = placed;
  if (ruler === null && season === null) return undefined;
  const official = isOfficial(signal, reading);
  const parts = [
    `${nameOf(reading)}, ${signal.measures}: ${valueText(signal, reading)} at ${reading.observed_at}`,
    ...(ruler === null
      ? []
      : [`${official ? 'official class' : 'class'} "${ruler.official_category}"`]),
    ...(season === null
      ? []
      : [`percentile ${percentText(season)} of ${season.n} same-season readings`]),
  ];
  return `${parts.join('; ')}.`;
}

/** The same line in Traditional Chinese, null when there is nothing to place the reading on. */
export function summaryZh(
  signal: Signal,
  reading: Reading,
  placed: { ruler: StandardRuler | null; season: Season | null },
): string | null {
  const { ruler, season } = placed;
  if (ruler === null && season === null) return null;
  const official = isOfficial(signal, reading);
  const parts = [
    `${nameOf(reading)}（${signal.id}）：${reading.observed_at} 觀測值 ${valueText(signal, reading)}`,
    ...(ruler === null ? [] : [`${official ? '官方分級' : '分級'}「${ruler.official_category}」`]),
    ...(season === null ? [] : [`位於 ${season.n} 筆同季觀測的第 ${percentText(season)} 百分位`]),
  ];
  return `${parts.join('；')}。`;
}
