/** One value of a gauge as published: text, because the source writes numbers as text. */
export interface SeriesPoint {
  readonly value: string | null;
  /** With an offset for an instant, or a bare date for a daily value. */
  readonly time: string;
  readonly qualifiers: readonly string[];
}

/** One series of one parameter at one site, the same from both front ends of the service. */
export interface GaugeSeries {
  readonly site: string;
  readonly siteName: string | null;
  readonly parameter: string;
  /** Statistic code: 00000 and 00011 are instants, 00003 is the daily mean. */
  readonly statistic: string;
  readonly noData: number;
  /** Unit as the source writes it; null where it names none, and then the parameter code says it. */
  readonly unit: string | null;
  /** Tells apart series of one parameter, for example two sensors; empty for the primary one. */
  readonly method: string;
  readonly points: readonly SeriesPoint[];
  /** A point could not be read, so that nothing is known of the series as a whole. */
  readonly isUnreadable: boolean;
}

/** The code for "nothing there", where a series does not name its own. */
export const NO_DATA = -999_999;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Decodes the HTML entities of a name, `&#179;` and `&amp;` alike; an unknown one stays as it is. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi, (whole, body: string) => {
    if (!body.startsWith('#')) return ENTITIES[body.toLowerCase()] ?? whole;
    const point = Number(body.replace(/^#x/i, '0x').replace(/^#/, ''));
    const scalar = point > 31 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return scalar ? String.fromCodePoint(point) : whole;
  });
}
