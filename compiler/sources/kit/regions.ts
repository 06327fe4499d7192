import { defined } from '../../format/errors.ts';

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

/** Whether something may lie in a box: it may wherever nothing that can be read of its place says otherwise. */
export function mayLieIn(
  box: RegionBox,
  { longitude, latitude }: { readonly longitude: number | null; readonly latitude: number | null },
): boolean {
  return inBox(box, longitude ?? box.west, latitude ?? box.south);
}

/** A box with some degrees more on each side. */
export function widened({ south, north, west, east }: RegionBox, degrees: number): RegionBox {
  return regionBox([south - degrees, north + degrees], [west - degrees, east + degrees]);
}

export function boxText({ south, north, west, east }: RegionBox): string {
  return (
    `region box latitude ${south} to ${north}, longitude ${west} to ${east}` +
    `${west > east ? ' across 180' : ''}`
  );
}

export type Position = readonly [longitude: number, latitude: number];

/** One side of a box: which coordinate it limits, where, and on which side of it the box lies. */
interface BoxSide {
  readonly axis: 0 | 1;
  readonly at: number;
  readonly inward: 1 | -1;
}

/**
 * Part of a box that a ring of positions covers, 0 to 1: above 0 for a ring that runs clockwise, below 0 for one that runs
 * the other way. The ring is cut at each side of the box in turn (Sutherland and Hodgman, 1974). The box must not cross
 * longitude 180.
 */
export function ringInBox(ring: readonly Position[], box: RegionBox): number {
  const { south, north, west, east } = box;
  const sides: readonly BoxSide[] = [
    { axis: 0, at: west, inward: 1 },
    { axis: 0, at: east, inward: -1 },
    { axis: 1, at: south, inward: 1 },
    { axis: 1, at: north, inward: -1 },
  ];
  return clockwiseArea(sides.reduce(cut, ring)) / ((north - south) * (east - west));
}

function cut(ring: readonly Position[], { axis, at, inward }: BoxSide): readonly Position[] {
  const isInside = (point: Position): boolean => inward * (point[axis] - at) >= 0;
  return edges(ring).flatMap(([from, to]) => {
    const kept = isInside(from) ? [from] : [];
    if (isInside(from) === isInside(to)) return kept;
    const part = (at - from[axis]) / (to[axis] - from[axis]);
    const crossing: Position = [
      from[0] + part * (to[0] - from[0]),
      from[1] + part * (to[1] - from[1]),
    ];
    return [...kept, crossing];
  });
}

/** Area of a ring in square degrees; below 0 where it runs counterclockwise. */
export function clockwiseArea(ring: readonly Position[]): number {
  return edges(ring).reduce((sum, [from, to]) => sum + to[0] * from[1] - from[0] * to[1], 0) / 2;
}

function edges(ring: readonly Position[]): (readonly [from: Position, to: Position])[] {
  return ring.map((from, at) => [from, defined(ring[(at + 1) % ring.length], 'the next corner')]);
}

export interface ConvectionRegion {
  readonly box: RegionBox;
  /** The two letters of all states that the box reaches. */
  readonly states: readonly string[];
  /** Zone codes of its counties, as alerts name them: `ILC017`. */
  readonly zones: ReadonlySet<string>;
}

/** Our boxes of the line's entities, since no agency publishes any. */
const BOXES: Readonly<Record<string, RegionBox>> = {
  'tornado-alley-core': regionBox([34, 38], [-99.5, -96]),
  'tx-panhandle-hail': regionBox([34, 36.4], [-103, -100.1]),
  'central-kansas': regionBox([37.5, 39.5], [-100, -97]),
  'front-range-co': regionBox([38, 40.9], [-105.5, -103.5]),
  'northern-plains': regionBox([43.2, 48.9], [-104, -97.5]),
  'corn-belt-il': regionBox([39.2, 41.3], [-90.2, -87.7]),
  'ohio-valley': regionBox([37.7, 40.5], [-87, -82.7]),
  'florida-peninsula': regionBox([25, 30], [-83, -80]),
  'red-river-ok': regionBox([33.3, 35], [-99, -95.5]),
  'north-texas': regionBox([32, 33.6], [-99, -96]),
  'dixie-alabama': regionBox([32, 34.9], [-88, -85.4]),
  'ozarks-arkansas': regionBox([35, 37.5], [-94.4, -91.5]),
  'iowa-missouri': regionBox([39, 42.5], [-95, -91.8]),
  'southern-minnesota': regionBox([43.6, 45], [-96.2, -93]),
  'carolina-piedmont': regionBox([34.3, 36.5], [-82, -78.8]),
  'mid-atlantic': regionBox([38, 40.5], [-78.5, -75]),
};

/**
 * The counties of each region: the two letters of a state, then three digits for each county. A county belongs to the region
 * that holds half of its area or more (ours; county outlines: US Census Bureau, 2017 cartographic boundary files).
 */
const COUNTIES: Readonly<Record<string, string>> = {
  'tornado-alley-core': `
    KS 007 015 019 033 035 047 049 073 077 095 097 151 155 173 191
    OK 003 005 011 015 017 019 027 029 031 033 037 039 043 047 049 051 053 063 065 067 069 071 073
    075 081 083 087 093 095 099 103 107 109 113 117 119 123 125 133 137 141 149 151 153
    TX 487`,
  'tx-panhandle-hail': `
    TX 011 017 045 065 069 075 087 101 111 117 129 153 179 189 191 195 205 211 233 279 295 341 345
    357 359 369 375 381 393 421 437 483`,
  'central-kansas': `
    KS 009 027 029 041 047 051 053 057 065 079 083 095 097 105 113 115 123 135 141 143 145 151 155
    159 163 165 167 169 173 185 195`,
  'front-range-co': `
    CO 001 005 013 014 025 027 031 035 039 041 043 059 087 101 119 123`,
  'northern-plains': `
    ND 001 003 005 007 009 011 013 015 019 021 023 025 027 029 031 033 037 039 041 043 045 047 049
    051 053 055 057 059 061 063 065 069 071 073 075 079 081 083 085 087 089 091 093 095 099 101 103
    105
    SD 003 005 013 015 017 019 021 023 025 031 033 035 037 041 043 045 047 049 055 059 061 063 065
    067 069 071 073 075 081 085 089 091 093 095 097 102 103 105 107 111 115 117 119 123 129 137`,
  'corn-belt-il': `
    IL 019 021 023 029 035 039 041 045 053 063 075 091 105 107 113 115 117 123 125 129 135 137 139
    143 147 155 167 173 175 179 183 203`,
  'ohio-valley': `
    IN 005 009 011 013 019 023 025 029 031 035 037 041 043 047 055 057 059 061 063 065 067 071 075
    077 079 081 093 095 097 101 105 107 109 115 117 119 123 133 135 137 139 143 145 155 157 159 161
    175 177
    KY 005 011 015 017 023 027 029 037 041 043 049 063 067 069 073 077 081 089 091 097 103 111 113
    115 117 127 135 151 153 161 163 165 167 173 175 179 181 185 187 191 197 201 205 209 211 215 223
    229 237 239
    OH 001 015 017 021 023 025 027 037 041 047 049 057 061 071 091 097 109 113 129 131 135 141 145
    149 159 165`,
  'florida-peninsula': `
    FL 001 007 009 011 015 017 019 021 027 035 041 043 049 051 053 055 057 061 069 071 075 081 083
    085 086 087 093 095 097 099 101 103 105 107 109 111 115 117 119 127`,
  'red-river-ok': `
    OK 005 013 019 023 029 031 033 049 067 069 085 087 095 099 121 123 137 141
    TX 009 077 097 119 147 181 277 337 485`,
  'north-texas': `
    TX 085 113 121 133 139 143 221 231 237 251 257 349 363 367 397 425 429 439 497 503`,
  'dixie-alabama': `
    AL 001 007 009 011 015 019 021 027 029 033 037 043 047 049 051 055 057 059 063 065 071 073 079
    083 085 087 089 091 093 095 101 103 105 111 115 117 121 123 125 127 133
    GA 083`,
  'ozarks-arkansas': `
    AR 005 007 009 015 023 029 033 045 047 049 063 065 071 083 087 089 101 115 129 131 137 141 143
    145 149
    MO 009 043 057 067 077 091 097 109 119 145 153 209 213 215 225 229`,
  'iowa-missouri': `
    IA 001 003 007 009 011 013 015 025 027 029 039 049 051 053 073 075 077 079 083 095 099 101 107
    117 121 123 125 127 135 153 157 159 169 171 173 175 177 179 181 185 187
    KS 209
    MO 001 003 007 019 021 025 033 041 047 049 061 063 075 079 081 089 095 103 107 115 117 121 129
    137 147 165 171 175 177 195 197 199 205 211 227`,
  'southern-minnesota': `
    MN 013 015 019 033 037 043 047 063 079 083 085 091 101 103 105 127 129 131 139 143 147 161 165
    173`,
  'carolina-piedmont': `
    NC 001 003 005 007 009 011 023 025 027 033 035 037 045 051 057 059 063 067 071 081 085 093 097
    105 109 119 123 125 135 145 151 153 155 157 159 161 165 167 169 171 179 189 193 197
    SC 021 023 025 031 033 039 055 057 069 083 087 091
    TN 091`,
  'mid-atlantic': `
    DC 001
    DE 001 003 005
    MD 003 005 009 011 013 015 017 019 021 025 027 029 031 033 035 037 039 041 043 045 047 510
    NJ 011 015 033
    PA 001 009 011 017 029 041 043 045 055 057 061 071 075 091 099 101 133
    VA 013 033 043 047 059 061 069 079 099 107 113 137 139 153 157 177 179 187 193 510 540 600 630
    683 685 840
    WV 003 037 065`,
};

export const CONVECTION_AREAS: ReadonlyMap<string, ConvectionRegion> = new Map(
  Object.entries(BOXES).map(([entity, box]) => [entity, { box, ...countiesOf(entity) }]),
);

function countiesOf(entity: string): Pick<ConvectionRegion, 'states' | 'zones'> {
  const states: string[] = [];
  const zones = new Set<string>();
  for (const word of defined(COUNTIES[entity], 'the counties of a region').trim().split(/\s+/)) {
    if (/^\d/.test(word)) zones.add(`${states.at(-1)}C${word}`);
    else states.push(word);
  }
  return { states, zones };
}

/** The regions that lie in the asked states as a whole; null asks for all. */
export function regionsIn(states: readonly string[] | null): readonly [string, ConvectionRegion][] {
  return [...CONVECTION_AREAS].filter(([, region]) =>
    region.states.every((state) => states?.includes(state) ?? true),
  );
}

export function convectionScope({ box }: ConvectionRegion): string {
  return `${boxText(box)}; box and rule are ours, not official`;
}
