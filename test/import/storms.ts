/** One storm of a list, with members in place of the usual ones; undefined takes a member away. */
export function storm(id: string, over: Readonly<Record<string, unknown>> = {}) {
  return {
    id,
    binNumber: `${id.startsWith('al') ? 'AT' : 'EP'}${Number(id.slice(2, 4)) % 6}`,
    name: 'Example',
    classification: 'TS',
    intensity: '40',
    pressure: '1004',
    latitude: '23.5N',
    longitude: '136.0W',
    latitudeNumeric: 23.5,
    longitudeNumeric: -136,
    movementDir: 290,
    movementSpeed: 14,
    lastUpdate: '2026-08-02T03:00:00.000Z',
    windWatchesWarnings: null,
    stormSurgeWatchWarningGIS: null,
    ...over,
  };
}

/** A list of active storms. */
export function storms(...activeStorms: readonly object[]) {
  return { activeStorms };
}
