import { BUILTIN } from '../../../contract/catalog/builtin.ts';
import { placesOf } from '../../../contract/catalog/catalog.ts';

/** The lanes that a crossing is followed by; the choice is of this line. */
export type Traffic = 'commercial' | 'passenger';
export interface Crossing {
  readonly entity: string;
  readonly port: string;
  /** Number of the field office, which stands before the port number in the addresses of graphs. */
  readonly office: string;
  readonly traffic: Traffic;
}

/** Port and office numbers as in the agency's list of crossings. */
const ROWS = [
  ['laredo-world-trade', '230404', '07', 'commercial'],
  ['laredo-colombia', '230403', '07', 'commercial'],
  ['laredo-bridge1', '230401', '07', 'passenger'],
  ['otay-mesa-commercial', '250602', '09', 'commercial'],
  ['san-ysidro', '250401', '09', 'passenger'],
  ['el-paso-ysleta', '240203', '06', 'commercial'],
  ['el-paso-bota', '240201', '06', 'commercial'],
  ['pharr', '230502', '07', 'commercial'],
  ['hidalgo', '230501', '07', 'passenger'],
  ['nogales-mariposa', '260402', '08', 'commercial'],
  ['calexico-east', '250301', '09', 'commercial'],
  ['brownsville-veterans', '535502', '07', 'commercial'],
  ['detroit-ambassador', '380001', '03', 'commercial'],
  ['detroit-windsor-tunnel', '380002', '03', 'commercial'],
  ['buffalo-peace-bridge', '090101', '04', 'commercial'],
  ['port-huron-bluewater', '380201', '03', 'commercial'],
  ['blaine-pacific-hwy', '300401', '02', 'commercial'],
  ['blaine-peace-arch', '300402', '02', 'passenger'],
  ['champlain', '071201', '04', 'commercial'],
  ['pembina', '340101', '02', 'commercial'],
] as const satisfies readonly (readonly [Crossing['entity'], string, string, Traffic])[];

export const CROSSINGS: readonly Crossing[] = ROWS.map(([entity, port, office, traffic]) => ({
  entity,
  port,
  office,
  traffic,
}));

const BY_PORT: ReadonlyMap<string, Crossing> = new Map(CROSSINGS.map((one) => [one.port, one]));

/** Undefined for a port that this line does not follow. */
export function crossingAt(port: string): Crossing | undefined {
  return BY_PORT.get(port);
}

/** IANA zone of a crossing. */
export function zoneOf({ entity }: Crossing): string {
  const zone = placesOf(BUILTIN, 'border-wait').get(entity)?.zone;
  if (zone === undefined) throw new RangeError(`Cannot tell the zone of "${entity}": no place`);
  return zone;
}

export const CBP = 'US Customs and Border Protection';
export const CBP_PAGE = 'https://bwt.cbp.gov/';
export const CBP_API = 'https://bwt.cbp.gov/api/';
