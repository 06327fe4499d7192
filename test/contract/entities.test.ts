import { describe, expect, it } from 'vitest';
import * as entities from '../../compiler/contract/entities.ts';

const LISTS: Readonly<Record<string, unknown>> = { ...entities };

/** Members as the specification prints them, separated by blanks. */
const CLOSED: readonly (readonly [keyof typeof entities, number, string])[] = [
  [
    'CITY_LOCS',
    12,
    'us-stlouis us-memphis us-losangeles us-fresno us-phoenix us-denver us-saltlakecity us-houston us-newyork us-chicago us-seattle us-portland',
  ],
  [
    'AGRI_LOCS',
    12,
    'us-iowa us-illinois us-nebraska us-kansas ar-pampas br-matogrosso br-parana au-nsw in-punjab ua-ukraine ru-southrussia cn-northchina',
  ],
  [
    'GRID_LOCS',
    12,
    'us-ercot us-caiso us-pjm us-miso us-nyiso eu-germany eu-france eu-uk eu-spain jp-japan au-nem in-india',
  ],
  [
    'SHIPPING_LOCS',
    12,
    'suez-redsea panama-pacific malacca hormuz goodhope channel biscay northsea gulfmexico southchinasea bengal northpacific',
  ],
  [
    'TICKERS',
    18,
    'AAPL MSFT NVDA TSLA AMZN META GOOGL BA F INTC GME AMC CVNA PLTR NFLX DIS JPM BAC',
  ],
  [
    'WILDFIRE_REGIONS',
    12,
    'us-california us-pacific-northwest us-southwest us-rockies canada-bc canada-alberta au-nsw au-victoria med-greece iberia amazon-brazil siberia-russia',
  ],
  [
    'AIRPORTS',
    22,
    'ewr lga jfk sfo ord bos phl atl dfw den clt iah mia sea lax dca mco las phx mem sdf anc',
  ],
  [
    'BORDER_CROSSINGS',
    20,
    'laredo-world-trade laredo-colombia laredo-bridge1 otay-mesa-commercial san-ysidro el-paso-ysleta el-paso-bota pharr hidalgo nogales-mariposa calexico-east brownsville-veterans detroit-ambassador detroit-windsor-tunnel buffalo-peace-bridge port-huron-bluewater blaine-pacific-hwy blaine-peace-arch champlain pembina',
  ],
  [
    'EARTHQUAKE_REGIONS',
    18,
    'california-san-andreas cascadia-pnw alaska-aleutians japan sumatra-indonesia philippines chile mexico central-america turkey-anatolia greece-italy-med iran nepal-himalaya new-zealand iceland png-solomon taiwan caribbean',
  ],
  ['HURRICANE_BASINS', 3, 'atlantic epacific cpacific'],
  [
    'DROUGHT_REGIONS',
    10,
    'us-california us-southwest us-southernplains us-northernplains us-cornbelt us-southeast us-pacificnw us-lowermississippi us-northeast us-rockies',
  ],
  [
    'THERAPEUTIC_CLASSES',
    12,
    'anesthesia oncology psychiatry-cns analgesia-opioid anti-infective cardiovascular neurology gastroenterology endocrine hematology pulmonary-allergy ophthalmology',
  ],
];

/** Lists of which the specification prints the beginning and the length. */
const BEGUN: readonly (readonly [keyof typeof entities, number, string])[] = [
  [
    'DRUGS',
    24,
    'carboplatin cisplatin oxaliplatin methotrexate fluorouracil epinephrine heparin vancomycin morphine fentanyl',
  ],
  [
    'CONVECTION_REGIONS',
    16,
    'tornado-alley-core tx-panhandle-hail central-kansas front-range-co northern-plains corn-belt-il ohio-valley florida-peninsula',
  ],
  ['BALANCING_AUTHORITIES', 18, 'caiso ercot miso pjm spp nyiso isone bpa tva'],
];

describe('entity lists', () => {
  it.each(CLOSED)('%s has its %i members in order', (name, length, members) => {
    expect(LISTS[name]).toHaveLength(length);
    expect(LISTS[name]).toEqual(members.split(' '));
  });

  it.each(BEGUN)('%s has %i different members and begins as printed', (name, length, members) => {
    const list = LISTS[name] as readonly string[];
    const begun = members.split(' ');
    expect(list.slice(0, begun.length)).toEqual(begun);
    expect(new Set(list).size).toBe(length);
    expect(list).toHaveLength(length);
  });
});

describe('CITY_RIVER_GAUGE', () => {
  it('names one gauge site for every city and for nothing else', () => {
    expect(Object.keys(entities.CITY_RIVER_GAUGE)).toEqual([...entities.CITY_LOCS]);
    const sites = Object.values(entities.CITY_RIVER_GAUGE);
    expect(new Set(sites).size).toBe(12);
    for (const site of sites) expect(site).toMatch(/^[0-9]{8}$/);
  });
});
