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
