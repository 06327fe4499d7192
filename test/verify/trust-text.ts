import { formatTrust, type TrustFile } from '../../compiler/verify/trust-file.ts';

/** The text of a trust file with these members; the log is that of an invented shop. */
export function trustText(members: Partial<TrustFile>): string {
  return formatTrust({
    format: 'signalpress-trust/1',
    url: 'https://readings.example',
    issuers: [],
    roots: [],
    log: 'readings.example/log+1b817d15+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea',
    witnesses: [],
    max_age_hours: null,
    keys: null,
    seen: {},
    ...members,
  });
}
