/** A latitude and longitude box in degrees; `west` above `east` means that it crosses 180. */
export interface RegionBox {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

export function regionBox(
  latitudes: readonly [south: number, north: number],
  longitudes: readonly [west: number, east: number],
): RegionBox {
  const [south, north] = latitudes;
  const [west, east] = longitudes;
  return { south, north, west, east };
}

/** Whether a place lies in a box, edges included, on either side of longitude 180. */
export function inBox(area: RegionBox, longitude: number, latitude: number): boolean {
  if (latitude < area.south || latitude > area.north) return false;
  if (area.west <= area.east) return longitude >= area.west && longitude <= area.east;
  return longitude >= area.west || longitude <= area.east;
}

/** The box as text for `scope`. */
export function boxText({ south, north, west, east }: RegionBox): string {
  return (
    `region box latitude ${south} to ${north}, longitude ${west} to ${east}` +
    `${west > east ? ' across 180' : ''}`
  );
}
