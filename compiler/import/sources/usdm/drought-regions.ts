/** The states that each region of the line is made of; the choice is ours. */
export const DROUGHT_STATES: Readonly<Record<string, readonly string[]>> = {
  'us-california': ['CA'],
  'us-southwest': ['AZ', 'NM', 'NV', 'UT'],
  'us-southernplains': ['KS', 'OK', 'TX'],
  'us-northernplains': ['ND', 'NE', 'SD'],
  'us-cornbelt': ['IA', 'IL', 'IN', 'MO', 'OH'],
  'us-southeast': ['AL', 'FL', 'GA', 'NC', 'SC', 'VA'],
  'us-pacificnw': ['ID', 'OR', 'WA'],
  'us-lowermississippi': ['AR', 'LA', 'MS'],
  'us-northeast': ['CT', 'DE', 'MA', 'MD', 'ME', 'NH', 'NJ', 'NY', 'PA', 'RI', 'VT', 'WV'],
  'us-rockies': ['CO', 'MT', 'WY'],
};

const CODES =
  'AL01 AR05 AZ04 CA06 CO08 CT09 DE10 FL12 GA13 IA19 ID16 IL17 IN18 KS20 LA22 MA25 MD24 ME23 MO29 MS28 MT30 NC37 ND38 ' +
  'NE31 NH33 NJ34 NM35 NV32 NY36 OH39 OK40 OR41 PA42 RI44 SC45 SD46 TX48 UT49 VA51 VT50 WA53 WV54 WY56';

/** Federal codes (FIPS) of the states, by which the service is asked. */
export const STATE_CODES: ReadonlyMap<string, string> = new Map(
  CODES.split(' ').map((text) => [text.slice(0, 2), text.slice(2)]),
);
