/** Hours from UTC by the abbreviations that US agencies write. */
const ZONE_HOURS: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['AST', -4],
  ['EST', -5],
  ['CST', -6],
  ['MST', -7],
  ['PST', -8],
  ['AKST', -9],
  ['HST', -10],
  ['ADT', -3],
  ['EDT', -4],
  ['CDT', -5],
  ['MDT', -6],
  ['PDT', -7],
  ['AKDT', -8],
]);

/** Milliseconds to add to UTC for a zone abbreviation, in any case; null for one that is not known. */
export function zoneOffset(abbreviation: string): number | null {
  const hours = ZONE_HOURS.get(abbreviation.trim().toUpperCase());
  return hours === undefined ? null : hours * 3_600_000;
}
