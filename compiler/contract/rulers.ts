/** One official class: it begins at `at`, in the ruler's unit. */
export interface RulerStep {
  readonly band: string;
  readonly at: number;
}

/**
 * An official scale. Steps go from the mildest class to the worst; with `direction: 'up'` a larger
 * value is worse. On an edge the value belongs to the class named by `edge`.
 */
export interface Ruler {
  readonly scale: string;
  readonly metric: string;
  readonly unit: string;
  readonly direction: 'up' | 'down';
  readonly edge: 'worse' | 'milder';
  /** The class from which the agency advises action. */
  readonly actionBand: string;
  readonly steps: readonly RulerStep[];
  /** Official document that holds the thresholds. */
  readonly provenance: string;
  /** First day of validity, ISO date; readings before it use the ruler before this one. */
  readonly since?: string;
}

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

function pm25(since: string | undefined, edges: readonly [number, number, number, number, number]) {
  const names = ['moderate', 'unhealthy-sensitive', 'unhealthy', 'very-unhealthy', 'hazardous'];
  const worse = edges.map((at, index) => ({ band: names[index] ?? '', at }));
  const ruler: Ruler = {
    scale: 'US AQI breakpoints for PM2.5, 24 h',
    metric: 'pm25_ugm3',
    unit: 'ug/m3',
    direction: 'up',
    edge: 'worse',
    actionBand: 'unhealthy-sensitive',
    steps: [{ band: 'good', at: 0 }, ...worse],
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

/** River stages differ by gauge: the snapshot's `thresholds` hold the heights, `thresholds_agency` says whose they are. */
export const FLOOD_STAGE_BANDS = ['below-action', 'action', 'minor', 'moderate', 'major'] as const;
