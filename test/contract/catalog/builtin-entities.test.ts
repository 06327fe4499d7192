import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';

/** Members as the specification prints them, separated by blanks. */
const CLOSED: readonly (readonly [string, number, string])[] = [
  [
    'environment',
    12,
    'us-stlouis us-memphis us-losangeles us-fresno us-phoenix us-denver us-saltlakecity us-houston us-newyork us-chicago us-seattle us-portland',
  ],
  [
    'agriculture',
    12,
    'us-iowa us-illinois us-nebraska us-kansas ar-pampas br-matogrosso br-parana au-nsw in-punjab ua-ukraine ru-southrussia cn-northchina',
  ],
  [
    'grid',
    12,
    'us-ercot us-caiso us-pjm us-miso us-nyiso eu-germany eu-france eu-uk eu-spain jp-japan au-nem in-india',
  ],
  [
    'shipping',
    12,
    'suez-redsea panama-pacific malacca hormuz goodhope channel biscay northsea gulfmexico southchinasea bengal northpacific',
  ],
  [
    'filing',
    18,
    'AAPL MSFT NVDA TSLA AMZN META GOOGL BA F INTC GME AMC CVNA PLTR NFLX DIS JPM BAC',
  ],
  [
    'wildfire',
    12,
    'us-california us-pacific-northwest us-southwest us-rockies canada-bc canada-alberta au-nsw au-victoria med-greece iberia amazon-brazil siberia-russia',
  ],
  [
    'nas',
    22,
    'ewr lga jfk sfo ord bos phl atl dfw den clt iah mia sea lax dca mco las phx mem sdf anc',
  ],
  [
    'border-wait',
    20,
    'laredo-world-trade laredo-colombia laredo-bridge1 otay-mesa-commercial san-ysidro el-paso-ysleta el-paso-bota pharr hidalgo nogales-mariposa calexico-east brownsville-veterans detroit-ambassador detroit-windsor-tunnel buffalo-peace-bridge port-huron-bluewater blaine-pacific-hwy blaine-peace-arch champlain pembina',
  ],
  [
    'earthquake',
    18,
    'california-san-andreas cascadia-pnw alaska-aleutians japan sumatra-indonesia philippines chile mexico central-america turkey-anatolia greece-italy-med iran nepal-himalaya new-zealand iceland png-solomon taiwan caribbean',
  ],
  ['hurricane', 3, 'atlantic epacific cpacific'],
  [
    'drought',
    10,
    'us-california us-southwest us-southernplains us-northernplains us-cornbelt us-southeast us-pacificnw us-lowermississippi us-northeast us-rockies',
  ],
  [
    'drug-shortage',
    12,
    'anesthesia oncology psychiatry-cns analgesia-opioid anti-infective cardiovascular neurology gastroenterology endocrine hematology pulmonary-allergy ophthalmology',
  ],
];

/** Lists of which the specification prints the beginning and the length. */
const BEGUN: readonly (readonly [string, number, string])[] = [
  [
    'drug-detail',
    24,
    'carboplatin cisplatin oxaliplatin methotrexate fluorouracil epinephrine heparin vancomycin morphine fentanyl',
  ],
  [
    'severe-convection',
    16,
    'tornado-alley-core tx-panhandle-hail central-kansas front-range-co northern-plains corn-belt-il ohio-valley florida-peninsula',
  ],
  ['grid-reliability', 18, 'caiso ercot miso pjm spp nyiso isone bpa tva'],
];

describe('entity lists', () => {
  it.each(CLOSED)('%s has its %i members in order', (name, length, members) => {
    const list = builtinLine(name).entities;
    expect(list).toHaveLength(length);
    expect(list).toEqual(members.split(' '));
  });

  it.each(BEGUN)('%s has %i different members and begins as printed', (name, length, members) => {
    const list = builtinLine(name).entities;
    const begun = members.split(' ');
    expect(list.slice(0, begun.length)).toEqual(begun);
    expect(new Set(list).size).toBe(length);
    expect(list).toHaveLength(length);
  });
});

describe('the gauges of the cities', () => {
  it('names one gauge site for every city and for nothing else', () => {
    const { entities, entityOf } = builtinLine('environment');
    const gauges = entityOf?.['hydrology.river-level'] ?? {};
    expect(entityOf?.['hydrology.streamflow']).toEqual(gauges);
    expect(Object.keys(gauges)).toEqual(entities);
    const sites = Object.values(gauges);
    expect(new Set(sites).size).toBe(12);
    for (const site of sites) expect(site).toMatch(/^[0-9]{8}$/);
  });
});
