/** Our regions that are one province, by country and the name that the agency prints. */
const REGIONS: ReadonlyMap<string, string> = new Map([
  ['USA Iowa', 'us-iowa'],
  ['USA Illinois', 'us-illinois'],
  ['USA Nebraska', 'us-nebraska'],
  ['USA Kansas', 'us-kansas'],
  ['BRA Mato Grosso', 'br-matogrosso'],
  ['AUS New South Wales', 'au-nsw'],
  ['IND Punjab', 'in-punjab'],
]);
/** Provinces that stand for regions of ours, by the numbers that the agency gives those of a country in order of names. */
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ['us-iowa', 'usa-16'],
  ['us-illinois', 'usa-14'],
  ['us-nebraska', 'usa-28'],
  ['us-kansas', 'usa-17'],
]);
const PROVINCE_ID = /^([a-z]{3})-([1-9]\d{0,2})$/;

/** A province as the agency knows it: ISO code of the country, number and name. */
export interface Province {
  readonly country: string;
  readonly number: string;
  readonly name: string;
}

/** The entity of a province: our region, or country and number such as `ukr-24`. */
export function entityOf({ country, number, name }: Province): string {
  return REGIONS.get(`${country} ${name}`) ?? `${country.toLowerCase()}-${number}`;
}

/** What to ask the agency for; entities that are no province are left out, none at all stand for our own regions. */
export function provincesAsked(
  entities: readonly string[],
): readonly Pick<Province, 'country' | 'number'>[] {
  const wanted = entities.length === 0 ? [...NUMBERS.keys()] : entities;
  return wanted.flatMap((entity) => {
    const [, country, number] = PROVINCE_ID.exec(NUMBERS.get(entity) ?? entity) ?? [];
    return country === undefined || number === undefined
      ? []
      : [{ country: country.toUpperCase(), number }];
  });
}
