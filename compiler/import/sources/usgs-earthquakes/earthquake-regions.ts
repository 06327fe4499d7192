import { defined } from '../../../contract/defined.ts';
import { regionBox as box, boxText, type RegionBox } from '../../region-box.ts';

/** Our boxes of the line's entities; no agency publishes them, so `regionScope` says whose they are. */
export const EARTHQUAKE_BOXES: Readonly<Record<string, RegionBox>> = {
  'california-san-andreas': box([32, 42], [-125, -114]),
  'cascadia-pnw': box([40, 51], [-130, -118]),
  'alaska-aleutians': box([50, 72], [170, -130]),
  japan: box([30, 46], [128, 148]),
  'sumatra-indonesia': box([-11, 7], [92, 135]),
  philippines: box([4, 21], [116, 128]),
  chile: box([-56, -17], [-78, -66]),
  mexico: box([14, 33], [-118, -92]),
  'central-america': box([7, 18], [-93, -77]),
  'turkey-anatolia': box([35.5, 42.5], [26, 45]),
  'greece-italy-med': box([34, 47], [6, 30]),
  iran: box([25, 40], [44, 63.5]),
  'nepal-himalaya': box([26, 36], [74, 97]),
  'new-zealand': box([-50, -33], [164, -176]),
  iceland: box([62.5, 67.5], [-26, -12]),
  'png-solomon': box([-13, 0], [140, 164]),
  taiwan: box([21, 26], [119, 123]),
  caribbean: box([10, 24], [-85, -59]),
};

/** The box as text for `scope`, which also says that boxes and bands are ours. */
export function regionScope(area: RegionBox): string {
  return `${boxText(area)}; box and band thresholds are ours, not official`;
}

/** Smallest magnitude of counts and rates: smaller quakes are listed completely in few regions only. */
export const COUNT_MAG_MIN = 2.5;
/** Below this many quakes in 24 hours a ratio says nothing, so the band stays `baseline`. */
const SWARM_COUNT_MIN = 5;

interface BandStep {
  readonly band: string;
  readonly from: number;
}

/** Bands by the largest magnitude of 24 hours (ours). */
export const ACTIVITY_STEPS: readonly BandStep[] = [
  { band: 'minor', from: 2.5 },
  { band: 'notable', from: 4.5 },
  { band: 'strong', from: 6 },
  { band: 'major', from: 7 },
];
/** Bands by the ratio of 24 hours to the mean day before (ours). */
export const SWARM_STEPS: readonly BandStep[] = [
  { band: 'slightly_elevated', from: 1.5 },
  { band: 'elevated', from: 3 },
  { band: 'swarm', from: 6 },
];
/** Bands by intensity (ours); the alert levels of ALERT_BANDS can only raise them. */
export const IMPACT_STEPS: readonly BandStep[] = [
  { band: 'felt', from: 1.5 },
  { band: 'moderate', from: 4.5 },
  { band: 'significant', from: 6.5 },
  { band: 'severe', from: 7.5 },
];
const ALERT_BANDS: Readonly<Record<string, string>> = {
  yellow: 'significant',
  orange: 'severe',
  red: 'severe',
};

function reached(steps: readonly BandStep[], value: number): string | undefined {
  return steps.findLast((step) => value >= step.from)?.band;
}

/** Band of `earthquake.current_activity`; null means that no quake was listed. */
export function activityBand(maxMagnitude: number | null): string {
  return (maxMagnitude === null ? undefined : reached(ACTIVITY_STEPS, maxMagnitude)) ?? 'quiet';
}

/** Band of `earthquake.swarm_rate`; many quakes after six days without any are a swarm. */
export function swarmBand(count24h: number, ratio: number | null): string {
  if (count24h < SWARM_COUNT_MIN) return 'baseline';
  return ratio === null ? 'swarm' : (reached(SWARM_STEPS, ratio) ?? 'baseline');
}

const IMPACT_ORDER = ['none', ...IMPACT_STEPS.map((step) => step.band)];

/** What was measured and reported of one quake; null says nothing, it is neither zero nor green. */
interface Shaking {
  readonly intensity: number | null;
  readonly alert: string | null;
  readonly felt: number | null;
}

/** Band of `earthquake.impact_realized`: the worst of intensity, alert level and reports. */
export function impactBand(shaking: Shaking): string {
  return defined(IMPACT_ORDER[impactRank(shaking)], 'the band of a rank');
}

/** Position of the impact band, 0 for `none`. */
export function impactRank({ intensity, alert, felt }: Shaking): number {
  const byShaking = intensity === null ? undefined : reached(IMPACT_STEPS, intensity);
  const byAlert = alert === null ? undefined : ALERT_BANDS[alert.toLowerCase()];
  const byReports = felt !== null && felt > 0 ? 'felt' : undefined;
  const bands = [byShaking, byAlert, byReports];
  return Math.max(...bands.map((band) => IMPACT_ORDER.indexOf(band ?? 'none')));
}
