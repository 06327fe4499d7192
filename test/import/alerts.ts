const AGENCY = 'urn:oid:2.49.0.1.840.0';

export interface AlertOver {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly counties?: readonly string[];
  readonly action?: string;
  readonly office?: string;
  readonly number?: string;
}

const EVENTS: Readonly<Record<string, string>> = {
  'TO.W': 'Tornado Warning',
  'SV.W': 'Severe Thunderstorm Warning',
  'TO.A': 'Tornado Watch',
  'SV.A': 'Severe Thunderstorm Watch',
  'HT.Y': 'Heat Advisory',
};

/** One alert in force at 2026-05-20T21:00Z, in Marshall County, Illinois unless it says another place. */
export function alert(id: string, code: string, over: AlertOver = {}) {
  const { counties = ['ILC123'], action = 'NEW', office = 'KILX', number = '0007' } = over;
  return {
    id: `https://api.weather.gov/alerts/${AGENCY}.${id}`,
    type: 'Feature',
    geometry: null,
    properties: {
      id: `${AGENCY}.${id}`,
      geocode: { SAME: counties.map((zone) => `017${zone.slice(-3)}`), UGC: counties },
      references: [],
      sent: '2026-05-20T15:31:00-05:00',
      expires: '2026-05-20T16:15:00-05:00',
      ends: '2026-05-20T16:15:00-05:00',
      status: 'Actual',
      messageType: 'Alert',
      event: EVENTS[code],
      description: 'At 331 PM CDT, a storm was located near Example.',
      ...over.properties,
      parameters: {
        VTEC: [`/O.${action}.${office}.${code}.${number}.260520T2031Z-260520T2115Z/`],
        ...over.parameters,
      },
    },
  };
}

/** What an alert of that id is called where another one replaces it. */
export function reference(id: string) {
  return { identifier: `${AGENCY}.${id}` };
}

export function alerts(...features: readonly object[]) {
  return {
    type: 'FeatureCollection',
    features,
    title: 'Current watches, warnings, and advisories',
  };
}
