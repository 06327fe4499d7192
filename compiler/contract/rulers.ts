/** One official class: it begins at `at`, in the ruler's unit. */
export interface RulerStep {
  readonly band: string;
  readonly at: number;
  /** To which class the edge itself belongs, where it is not that of the ruler. */
  readonly edge?: Ruler['edge'];
}

/**
 * An official scale. Steps go from the mildest class to the worst; with `direction: 'up'` a larger
 * value is worse. On an edge the value belongs to the class named by `edge`. A reading whose publisher gives it a class
 * that is not on the scale has no place there.
 */
export interface Ruler {
  readonly scale: string;
  /** The number that is classed, or `CLASS` where the agency publishes the class itself. */
  readonly metric: string;
  readonly unit: string;
  readonly direction: 'up' | 'down';
  readonly edge: 'worse' | 'milder';
  /** The class from which the agency advises action; null where it names none. */
  readonly actionBand: string | null;
  readonly steps: readonly RulerStep[];
  /** Official document that holds the thresholds. */
  readonly provenance: string;
  /** First day of validity, ISO date; readings before it use the ruler before this one. */
  readonly since?: string;
  /**
   * The same classes on a second metric, of which the worse holds: the record shows the scale that decides. Null says that
   * the second metric sets no class; without the member it was not looked at, and the reading has no class.
   */
  readonly beside?: Ruler;
}

/** A reading names its class in this member. Such a scale counts classes: `at` is a class's own number. */
export const CLASS = 'band';

/** US AQI, whole numbers: 101 and up is unhealthy for sensitive groups. */
export const US_AQI: Ruler = {
  scale: 'US AQI',
  metric: 'aqi_index',
  unit: 'index',
  direction: 'up',
  edge: 'worse',
  actionBand: 'unhealthy-sensitive',
  steps: [
    { band: 'good', at: 0 },
    { band: 'moderate', at: 51 },
    { band: 'unhealthy-sensitive', at: 101 },
    { band: 'unhealthy', at: 151 },
    { band: 'very-unhealthy', at: 201 },
    { band: 'hazardous', at: 301 },
  ],
  provenance: 'US EPA, Technical Assistance Document for the Reporting of Daily Air Quality',
};

type Edges = readonly [number, number, number, number, number];

function pm25(since: string | undefined, edges: Edges) {
  const [moderate, sensitive, unhealthy, veryUnhealthy, hazardous] = edges;
  const ruler: Ruler = {
    scale: 'US AQI breakpoints for PM2.5, 24 h',
    metric: 'pm25_ugm3',
    unit: 'ug/m3',
    direction: 'up',
    edge: 'worse',
    actionBand: 'unhealthy-sensitive',
    steps: [
      { band: 'good', at: 0 },
      { band: 'moderate', at: moderate },
      { band: 'unhealthy-sensitive', at: sensitive },
      { band: 'unhealthy', at: unhealthy },
      { band: 'very-unhealthy', at: veryUnhealthy },
      { band: 'hazardous', at: hazardous },
    ],
    provenance: 'US EPA, 40 CFR Part 58 Appendix G',
  };
  return since === undefined ? ruler : { ...ruler, since };
}

/** The breakpoints changed on 2024-05-06; a reading is classed by the table of its own day. */
export const PM25: readonly Ruler[] = [
  pm25(undefined, [12.1, 35.5, 55.5, 150.5, 250.5]),
  pm25('2024-05-06', [9.1, 35.5, 55.5, 125.5, 225.5]),
];

/** Soil-moisture percentile against the US Drought Monitor classes; a smaller percentile is worse. */
export const SOIL_MOISTURE_USDM: Ruler = {
  scale: 'US Drought Monitor classes',
  metric: 'soil_moisture_percentile_pct',
  unit: 'percentile',
  direction: 'down',
  edge: 'worse',
  actionBand: 'D1-moderate',
  steps: [
    { band: 'none', at: 100 },
    { band: 'D0-abnormally-dry', at: 30 },
    { band: 'D1-moderate', at: 20 },
    { band: 'D2-severe', at: 10 },
    { band: 'D3-extreme', at: 5 },
    { band: 'D4-exceptional', at: 2 },
  ],
  provenance: 'US Drought Monitor, drought classification',
};

/** Vegetation health index: below 40 is crop stress, so 40 itself is the milder class. */
export const CROP_VHI: Ruler = {
  scale: 'Vegetation health index classes',
  metric: 'vhi_index',
  unit: 'index',
  direction: 'down',
  edge: 'milder',
  actionBand: 'stress',
  steps: [
    { band: 'no-stress', at: 100 },
    { band: 'stress', at: 40 },
    { band: 'moderate-stress', at: 30 },
    { band: 'severe-stress', at: 20 },
    { band: 'extreme-stress', at: 10 },
  ],
  provenance: 'NOAA STAR, vegetation health products',
};

/** WMO code table 3700; a height on an edge belongs to the lower code. */
export const SEA_STATE: Ruler = {
  scale: 'WMO code table 3700',
  metric: 'wave_height_m',
  unit: 'm',
  direction: 'up',
  edge: 'milder',
  actionBand: 'rough',
  steps: [
    { band: 'glassy', at: 0 },
    { band: 'rippled', at: 0 },
    { band: 'smooth', at: 0.1 },
    { band: 'slight', at: 0.5 },
    { band: 'moderate', at: 1.25 },
    { band: 'rough', at: 2.5 },
    { band: 'very-rough', at: 4 },
    { band: 'high', at: 6 },
    { band: 'very-high', at: 9 },
    { band: 'phenomenal', at: 14 },
  ],
  provenance: 'WMO Manual on Codes, code table 3700',
};

/** Saffir-Simpson by one-minute wind in knots, grouped as the line's bands; 0 kt means no storm. */
export const SAFFIR_SIMPSON: Ruler = {
  scale: 'Saffir-Simpson hurricane wind scale',
  metric: 'max_wind_kt',
  unit: 'kt',
  direction: 'up',
  edge: 'worse',
  actionBand: 'tropical-storm',
  steps: [
    { band: 'none', at: 0 },
    { band: 'depression', at: 1 },
    { band: 'tropical-storm', at: 34 },
    { band: 'cat1-2', at: 64 },
    { band: 'major', at: 96 },
  ],
  provenance: 'NOAA NHC, Saffir-Simpson hurricane wind scale',
};

/**
 * Chance of formation within seven days. Below 40 percent is low, also "near 0"; 40 and 60 are medium. A basin without
 * any disturbance, which readings call none, is not on the scale.
 */
export const FORMATION_CHANCE: Ruler = {
  scale: 'NHC formation chance',
  metric: 'formation_7d_pct',
  unit: 'percent',
  direction: 'up',
  edge: 'worse',
  actionBand: null,
  steps: [
    { band: 'low', at: 0 },
    { band: 'medium', at: 40 },
    { band: 'high', at: 60, edge: 'milder' },
  ],
  provenance: 'NOAA NHC, categories of the chance of tropical cyclone formation',
};

/**
 * US Drought Monitor by its classes, numbered as they are named; without drought is below D0. The monitor draws classes on
 * a map. Its index (DSCI) has no thresholds, and shares of area have none either, so a ruler on a number would be ours. The
 * class of a region is what its reading says; `scope` says how it follows from the areas. Drought begins with D1.
 */
export const DROUGHT_CLASS: Ruler = {
  scale: 'US Drought Monitor classes',
  metric: CLASS,
  unit: 'class',
  direction: 'up',
  edge: 'worse',
  actionBand: 'D1-moderate',
  steps: [
    { band: 'none', at: -1 },
    { band: 'D0-abnormally-dry', at: 0 },
    { band: 'D1-moderate', at: 1 },
    { band: 'D2-severe', at: 2 },
    { band: 'D3-extreme', at: 3 },
    { band: 'D4-exceptional', at: 4 },
  ],
  provenance: 'US Drought Monitor, drought classification',
};

/**
 * Risk levels of the SPC, 1 to 5; thunder alone is below level 1. Five levels since 2014-10-22, before that there was
 * neither marginal nor enhanced. The class counts, not the number beside it, which is null where nothing is drawn.
 */
export const OUTLOOK_RISK: Ruler = {
  scale: 'SPC risk categories',
  metric: CLASS,
  unit: 'class',
  direction: 'up',
  edge: 'worse',
  actionBand: null,
  steps: [
    { band: 'tstm', at: 0 },
    { band: 'marginal', at: 1 },
    { band: 'slight', at: 2 },
    { band: 'enhanced', at: 3 },
    { band: 'moderate', at: 4 },
    { band: 'high', at: 5 },
  ],
  provenance: 'NOAA SPC, risk categories of severe thunderstorms',
  since: '2014-10-22',
};

const FLIGHT_CATEGORIES = {
  direction: 'down',
  edge: 'milder',
  // Below VFR minimums an instrument clearance is required (14 CFR 91.155).
  actionBand: 'ifr',
  provenance: 'FAA Aeronautical Information Manual, flight categories; as used by NWS',
} as const;

/** Statute miles: MVFR is 3 to 5 with both ends, IFR 1 to below 3. Reports end at 10. */
export const FLIGHT_VISIBILITY: Ruler = {
  ...FLIGHT_CATEGORIES,
  scale: 'Flight categories by visibility',
  metric: 'visibility_mi',
  unit: 'mi',
  steps: [
    { band: 'vfr_clear', at: 10 },
    { band: 'mvfr', at: 5, edge: 'worse' },
    { band: 'ifr', at: 3 },
    { band: 'lifr', at: 1 },
  ],
};

/** Feet above ground: MVFR is 1,000 to 3,000 with both ends, IFR 500 to below 1,000. Automatic reports end at 12,000. */
export const FLIGHT_CEILING: Ruler = {
  ...FLIGHT_CATEGORIES,
  scale: 'Flight categories by ceiling',
  metric: 'ceiling_ft',
  unit: 'ft',
  steps: [
    { band: 'vfr_clear', at: 12_000 },
    { band: 'mvfr', at: 3000, edge: 'worse' },
    { band: 'ifr', at: 1000 },
    { band: 'lifr', at: 500 },
  ],
};

/**
 * The worse of visibility and ceiling. A ceiling of null is none at all, and absent if the sky was not reported. Readings of
 * thunder or high wind have a class of ours, which is not on the scale.
 */
export const FLIGHT_CATEGORY: Ruler = { ...FLIGHT_VISIBILITY, beside: FLIGHT_CEILING };

/**
 * River stages differ by gauge: the snapshot's `thresholds` hold the heights, `thresholds_agency` says whose they are. The
 * flood stage is where minor flooding begins. Where it is known alone, as from the text of a warning, the class is `flood`:
 * how far the river is beyond it would be a guess.
 */
export const FLOOD_STAGE_BANDS = [
  'below-action',
  'action',
  'flood',
  'minor',
  'moderate',
  'major',
] as const;

// What has no ruler, and why:
// - hydrology.streamflow: the USGS classes are percentiles of a season, see `stat_ruler`. NWS flow thresholds are rare.
// - precipitation: classes of the SPI need a distribution that five years do not give.
// - agriculture.heat: the NWS classes are of the heat index, which needs humidity, and not of the temperature.
// - drought.onset-pressure: the EDDI has a class ED4 from percentile 98 that the specified list lacks.
// - wildfire: fire danger classes (NFDRS) need fuel, counts have none, and those of particles are of all particles.
// - earthquake: the USGS words are of one quake; the classes of a region are ours.
// - hurricane.industry-timeline: the NOAA classes are of a whole season in the Atlantic.
// - hurricane.impact-cascade, severe-convection.active-warning-state, nas.ground_ops: what is in force is official, the
//   order of kinds is ours. severe-convection.realized-severe-reports: several metrics, each with limits of its own.
// - grid-reliability: the official levels (EEA) are not in the feed of demand.
// - all others: no agency publishes classes.
