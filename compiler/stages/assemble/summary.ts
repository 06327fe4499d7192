import type { Signal } from '../../contract/lines.ts';
import { nameOf, valueText } from '../../contract/reading-text.ts';
import type { StandardRuler } from '../../contract/record.ts';
import { isOfficial } from '../derive/ruler.ts';
import type { Season } from '../derive/season.ts';
import type { Reading } from '../intake/reading.ts';

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
