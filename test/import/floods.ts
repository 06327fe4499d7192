export interface FloodText {
  readonly gauge?: string;
  /** The sentence on the stage. */
  readonly stage?: string;
  readonly flood?: string;
  readonly occurring?: string;
}

/** One segment of a flood statement, which ends with its own mark. */
export function floodSegment({
  gauge = 'EXMS1',
  stage = 'At 7 PM Friday the stage was 13.6 feet.',
  flood = 'Flood stage is 10.0 feet.',
  occurring = 'Minor flooding is occurring.',
}: FloodText = {}): string {
  return [
    'SCC015-043-089-290138-',
    '/O.CON.KCHS.FL.W.0016.000000T0000Z-000000T0000Z/',
    `/${gauge}.1.ER.191216T1352Z.191231T0000Z.000000T0000Z.NO/`,
    '839 PM EST Fri Dec 27 2019',
    '',
    'The Flood Warning continues for',
    '  The Example River near Sample.',
    `* ${stage}`,
    `* ${flood}`,
    `* ${occurring}`,
    '* Forecast, the river will continue rising to near 14.4 feet by',
    '  Monday evening.',
    '',
    '&&',
    '',
    '$$',
  ].join('\n');
}

/** A flood statement of the office at Charleston, issued 2019-12-28T01:39Z. */
export function floodText(...segments: readonly string[]): string {
  return [
    '417',
    'WGUS82 KCHS 280139',
    'FLSCHS',
    '',
    'Flood Statement',
    'National Weather Service Charleston SC',
    '839 PM EST Fri Dec 27 2019',
    '',
    ...segments,
    '',
  ].join('\n');
}
