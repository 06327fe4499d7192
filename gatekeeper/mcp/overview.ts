import type { Reply } from '../http/reply.ts';
import { succeededWith, type ToolResult } from './tool-result.ts';

/** Industries that an overview names; a catalogue of a publisher's own may have any number. */
const INDUSTRIES_MAX = 40;

interface CompactCoverage {
  readonly totals: object;
  readonly signals: readonly { readonly industry: string; readonly entities_count: number }[];
}

/**
 * A compact coverage of everything, in short: the totals, and how many signals of each industry have a reading, the largest
 * first. Each industry is a page of its own.
 */
export function overview({ body }: Reply, baseUrl: string): ToolResult {
  const { totals, signals } = JSON.parse(body.toString()) as CompactCoverage;
  const counts = new Map<string, number>();
  for (const { industry, entities_count } of signals) {
    if (entities_count > 0) counts.set(industry, (counts.get(industry) ?? 0) + 1);
  }
  const largestFirst = [...counts].sort(([, a], [, b]) => b - a);
  const left = largestFirst.length - INDUSTRIES_MAX;
  return succeededWith({
    totals,
    industries: Object.fromEntries(largestFirst.slice(0, INDUSTRIES_MAX)),
    ...(left > 0 ? { industries_left_out: left } : {}),
    next: `find_signal with one industry lists its signals; GET ${baseUrl}/gauge/coverage?summary=1 lists all`,
  });
}
