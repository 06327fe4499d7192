import { encodeSegment } from '../products/shapes/path.ts';

// Addresses of the pages for people, one for each thing. They are promises: a change here breaks links and citations.

function urlOf(...parts: readonly string[]): string {
  return `/${parts.map(encodeSegment).join('/')}`;
}

/** The newest reading of an entity, its chart and what is sold about it. */
export function recordUrl(signalId: string, entity: string): string {
  return urlOf('r', signalId, entity);
}

/** The chart of the free last seven, as a picture that names its axes. */
export function chartUrl(signalId: string, entity: string): string {
  return `${recordUrl(signalId, entity)}/chart.svg`;
}

/** What a line of business has. */
export function lineUrl(line: string): string {
  return urlOf('line', line);
}

/** Everything that is known of one place, company, coin or drug. */
export function placeUrl(entity: string): string {
  return urlOf('place', entity);
}

/** The legs of a line at one subject. */
export function chainUrl(line: string, subject: string): string {
  return urlOf('chain', line, subject);
}

/** Where the pages of a line are listed for search engines. */
export function lineSitemapUrl(line: string): string {
  return `${lineUrl(line)}/sitemap.xml`;
}

/** The same of the pages that belong to no line. */
export const LOG_SITEMAP_URL = '/log/sitemap.xml';

export function releaseUrl(sequence: number): string {
  return `/release/${sequence}`;
}
