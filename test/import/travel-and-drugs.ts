import { CLOSED, graph, LISTED, lane, NONE, PENDING, port } from './border-ports.ts';
import { registryPage, server } from './registry-pages.ts';
import { BULK, row, shortages } from './shortages.ts';
import {
  currentStatements,
  type Mutated,
  readingStatements,
  rosterStatements,
} from './statements.ts';

const note = (url: string, fetched_at = '2026-11-20T11:05:00Z') => ({
  url,
  fetched_at,
  http_status: 200,
});

const AIRPORTS = [
  '<AIRPORT_STATUS_INFORMATION><Update_Time>Fri Nov 20 11:04:30 2026 GMT</Update_Time>',
  '<Delay_type><Name>Ground Stop Programs</Name><Ground_Stop_List><Program><ARPT>JFK</ARPT><Reason>thunderstorms</Reason><End_Time>1:15 pm EST</End_Time></Program></Ground_Stop_List></Delay_type>',
  '<Delay_type><Name>Ground Delay Programs</Name><Ground_Delay_List><Ground_Delay><ARPT>BOS</ARPT><Reason>snow</Reason><Avg>1 hour and 5 minutes</Avg><Max>2 hours</Max></Ground_Delay></Ground_Delay_List></Delay_type>',
  '<Delay_type><Name>General Arrival/Departure Delay Info</Name><Arrival_Departure_Delay_List><Delay><ARPT>ORD</ARPT><Reason>WX:Wind</Reason><Arrival_Departure Type="Departure"><Min>16 minutes</Min><Max>30 minutes</Max><Trend>Increasing</Trend></Arrival_Departure></Delay></Arrival_Departure_Delay_List></Delay_type>',
  '<Delay_type><Name>Airport Closures</Name><Airport_Closure_List><Airport><ARPT>LGA</ARPT><Reason>!LGA 11/012 LGA AD AP CLSD 2611200900-2611201500</Reason><Start>Nov 20 at 09:00 UTC.</Start><Reopen>Nov 20 at 15:00 UTC.</Reopen></Airport></Airport_Closure_List></Delay_type>',
  '</AIRPORT_STATUS_INFORMATION>',
].join('');

const METARS = [
  {
    icaoId: 'KATL',
    obsTime: Date.parse('2026-11-20T10:52:00Z') / 1000,
    wspd: 14,
    wgst: 36,
    visib: 2.5,
    wxString: '-TSRA BR',
    rawOb: 'METAR KATL 201052Z 10014G36KT 2 1/2SM -TSRA BR BKN015 OVC030 13/12 A2991 RMK AO2',
    clouds: [
      { cover: 'BKN', base: 1500 },
      { cover: 'OVC', base: 3000 },
    ],
    fltCat: 'IFR',
  },
  {
    icaoId: 'KSEA',
    obsTime: Date.parse('2026-11-20T10:53:00Z') / 1000,
    wspd: 6,
    visib: '10+',
    rawOb: 'METAR KSEA 201053Z 21006KT 10SM FEW026 07/03 A3019',
    clouds: [{ cover: 'FEW', base: 2600 }],
    fltCat: 'VFR',
  },
];
const BULLETIN = [
  '769 ',
  'SAUS80 KWBC 201100 RRI',
  'METAR',
  'KSEA 201053Z 21006KT 10SM FEW026 BKN035 07/03 A3019 RMK AO2=',
  'KBOS 201054Z AUTO VRB06G40KT 1 3/4SM -SN OVC004 M07/M10 A2987 RMK AO2=',
  'KATL 201052Z 10014KT 2SM -TSRA BR BKN015 OVC030 13/12 A2991=',
  '',
].join('\n');

const PORTS = [
  port('230404', {
    commercial: [
      lane('At Noon CST', 'delay', ['45', '10']),
      lane('At Noon CST', 'no delay', ['3', '4']),
    ],
  }),
  port('230501', { passenger: [lane('At 8:00 am PST', 'delay', ['20', '2']), CLOSED, PENDING] }),
  port('240201', {
    commercial: [CLOSED, NONE],
    passenger: [lane('At 11:00 am MST', 'no delay', ['0', '4']), NONE, NONE],
  }),
];

const SHORTAGES = shortages([
  row('Cisplatin Injection', 'Available', { company_name: 'A Labs' }),
  row('Cisplatin Injection', 'Limited Availability', {
    company_name: 'B Labs',
    package_ndc: '0409-7',
  }),
  row('Heparin Sodium Injection', 'Unavailable', {
    therapeutic_category: ['Hematology'],
    initial_posting_date: '11/01/2026',
  }),
  row('Moxifloxacin Injection', undefined, {
    status: 'To Be Discontinued',
    therapeutic_category: ['Anti-Infective'],
  }),
]);

/** Payloads about travel, drugs and servers, to be spoilt in every way. */
export const TRAVEL_AND_DRUGS: Readonly<Record<string, Mutated>> = {
  'a document of airport programmes': {
    source: 'faa-nas',
    payload: AIRPORTS,
    note: note('https://nasstatus.faa.gov/api/airport-status-information'),
    says: currentStatements,
    // Reasons are free words of the agency.
    honest: /^Reason at \d+ = /,
  },
  'decoded weather reports': {
    source: 'aviationweather',
    payload: METARS,
    note: note('https://aviationweather.gov/api/data/metar?ids=KATL,KSEA'),
    says: readingStatements,
  },
  'a bulletin of weather reports': {
    source: 'aviationweather',
    payload: BULLETIN,
    note: note('https://tgftp.nws.noaa.gov/data/raw/sa/'),
    says: readingStatements,
    // A report has a group only for what the station reports, and nothing counts them.
    honest: /^(line \d+ column \d+ = ""|column \d+ (absent|last))$/,
  },
  'waits at the border': {
    source: 'cbp-bwt',
    payload: PORTS,
    note: { ...LISTED, http_status: 200 },
    says: readingStatements,
  },
  'a graph of waits at the border': {
    source: 'cbp-bwt',
    payload: graph('230404', { 0: ['20', '10'], 6: ['5', '40'], 12: ['7', '9'] }),
    note: note('https://bwt.cbp.gov/api/bwtwaittimegraph/07230404/2026-11-20', LISTED.fetched_at),
    says: readingStatements,
  },
  'a list of drug shortages': {
    source: 'openfda',
    payload: SHORTAGES,
    note: { ...BULK, http_status: 200 },
    says: currentStatements,
  },
  'a page of a registry': {
    source: 'mcp-registry',
    payload: registryPage(
      [
        server('com.example/one'),
        server('com.example/two', { status: 'deprecated' }),
        server('com.example/two', { isLatest: false }),
      ],
      'com.example/two:1.0.0',
    ),
    note: note('https://registry.modelcontextprotocol.io/v0/servers?limit=100'),
    says: rosterStatements,
    // The last page of a list is written without a cursor.
    honest: /^metadata\.nextCursor (absent|= null)$/,
  },
};
