/**
 * Entity ids that the specification names, in its order, with what people call them and where they are; the comment says
 * where ours begin. Points of areas are ours: a point inside that stands for the area on a map and in a grid of a model,
 * not its centre by any rule.
 */

/** Name, degrees north, degrees east, IANA time zone. */
export type PlaceRow = readonly [name: string, latitude: number, longitude: number, zone?: string];
type PlaceRows = Readonly<Record<string, PlaceRow>>;

function idsOf<const Id extends string>(rows: Readonly<Record<Id, unknown>>): readonly Id[] {
  return Object.keys(rows) as Id[];
}

/** Centres of the cities. */
export const CITY_PLACES = {
  'us-stlouis': ['St. Louis, MO', 38.627, -90.1994, 'America/Chicago'],
  'us-memphis': ['Memphis, TN', 35.1495, -90.049, 'America/Chicago'],
  'us-losangeles': ['Los Angeles, CA', 34.0522, -118.2437, 'America/Los_Angeles'],
  'us-fresno': ['Fresno, CA', 36.7378, -119.7871, 'America/Los_Angeles'],
  'us-phoenix': ['Phoenix, AZ', 33.4484, -112.074, 'America/Phoenix'],
  'us-denver': ['Denver, CO', 39.7392, -104.9903, 'America/Denver'],
  'us-saltlakecity': ['Salt Lake City, UT', 40.7608, -111.891, 'America/Denver'],
  'us-houston': ['Houston, TX', 29.7604, -95.3698, 'America/Chicago'],
  'us-newyork': ['New York, NY', 40.7128, -74.006, 'America/New_York'],
  'us-chicago': ['Chicago, IL', 41.8781, -87.6298, 'America/Chicago'],
  'us-seattle': ['Seattle, WA', 47.6062, -122.3321, 'America/Los_Angeles'],
  'us-portland': ['Portland, OR', 45.5152, -122.6784, 'America/Los_Angeles'],
} satisfies PlaceRows;
export const CITY_LOCS = idsOf(CITY_PLACES);

/** The river gauge nearest to each city, a USGS site with its number; the choice of gauge is ours. USGS publishes names and positions. */
export const CITY_GAUGES: Readonly<
  Record<
    (typeof CITY_LOCS)[number],
    readonly [site: string, name: string, latitude: number, longitude: number]
  >
> = {
  'us-stlouis': ['07010000', 'Mississippi River at St. Louis, MO', 38.629, -90.1798],
  'us-memphis': ['07032000', 'Mississippi River at Memphis, TN', 35.1231, -90.0776],
  'us-losangeles': ['11092450', 'Los Angeles River at Sepulveda Dam, CA', 34.1617, -118.4667],
  'us-fresno': ['11251000', 'San Joaquin River below Friant, CA', 36.9844, -119.7243],
  'us-phoenix': ['09512165', 'Salt River at Priest Drive near Phoenix, AZ', 33.4286, -111.9615],
  'us-denver': ['06714000', 'South Platte River at Denver, CO', 39.7597, -105.0036],
  'us-saltlakecity': ['10171000', 'Jordan River at Salt Lake City, UT', 40.7336, -111.9233],
  'us-houston': ['08074000', 'Buffalo Bayou at Houston, TX', 29.7602, -95.4086],
  'us-newyork': ['01376520', 'Hudson River at Pier 26, New York, NY', 40.7213, -74.0134],
  'us-chicago': ['05536123', 'Chicago River at Columbus Drive, Chicago, IL', 41.8887, -87.6204],
  'us-seattle': ['12113390', 'Duwamish River at Tukwila, WA', 47.479, -122.2588],
  'us-portland': ['14211720', 'Willamette River at Portland, OR', 45.5175, -122.6692],
};

export const CITY_RIVER_GAUGE: Readonly<Record<string, string>> = Object.fromEntries(
  CITY_LOCS.map((city) => [city, CITY_GAUGES[city][0]]),
);

/** Points in the cropland of each region. */
export const AGRI_PLACES = {
  'us-iowa': ['Iowa, United States', 42.0, -93.5, 'America/Chicago'],
  'us-illinois': ['Illinois, United States', 40.0, -89.2, 'America/Chicago'],
  'us-nebraska': ['Nebraska, United States', 41.0, -98.5, 'America/Chicago'],
  'us-kansas': ['Kansas, United States', 38.5, -98.4, 'America/Chicago'],
  'ar-pampas': ['Pampas, Argentina', -34.6, -61.0, 'America/Argentina/Buenos_Aires'],
  'br-matogrosso': ['Mato Grosso, Brazil', -12.6, -55.7, 'America/Cuiaba'],
  'br-parana': ['Paraná, Brazil', -24.7, -51.8, 'America/Sao_Paulo'],
  'au-nsw': ['New South Wales, Australia', -32.5, 148.0, 'Australia/Sydney'],
  'in-punjab': ['Punjab, India', 30.9, 75.6, 'Asia/Kolkata'],
  'ua-ukraine': ['Ukraine', 49.0, 32.0, 'Europe/Kyiv'],
  'ru-southrussia': ['Southern Russia', 45.6, 40.5, 'Europe/Moscow'],
  'cn-northchina': ['North China Plain, China', 36.0, 115.5, 'Asia/Shanghai'],
} satisfies PlaceRows;
export const AGRI_LOCS = idsOf(AGRI_PLACES);

/** Points in the area of each grid. */
export const GRID_PLACES = {
  'us-ercot': ['ERCOT, Texas', 31.0, -97.5, 'America/Chicago'],
  'us-caiso': ['CAISO, California', 36.8, -119.8, 'America/Los_Angeles'],
  'us-pjm': ['PJM, Mid-Atlantic United States', 40.2, -77.5, 'America/New_York'],
  'us-miso': ['MISO, Midwestern United States', 41.5, -91.0, 'America/Chicago'],
  'us-nyiso': ['NYISO, New York', 42.8, -75.0, 'America/New_York'],
  'eu-germany': ['Germany', 51.0, 10.0, 'Europe/Berlin'],
  'eu-france': ['France', 47.0, 2.4, 'Europe/Paris'],
  'eu-uk': ['Great Britain', 52.6, -1.5, 'Europe/London'],
  'eu-spain': ['Spain', 40.2, -3.6, 'Europe/Madrid'],
  'jp-japan': ['Japan', 35.7, 139.5, 'Asia/Tokyo'],
  'au-nem': ['National Electricity Market, Australia', -33.4, 149.6, 'Australia/Sydney'],
  'in-india': ['India', 22.8, 79.0, 'Asia/Kolkata'],
} satisfies PlaceRows;
export const GRID_LOCS = idsOf(GRID_PLACES);

/** Points at sea on each route. */
export const SHIPPING_PLACES = {
  'suez-redsea': ['Suez Canal and Red Sea', 20.5, 38.3],
  'panama-pacific': ['Panama Canal, Pacific approach', 8.0, -79.5],
  malacca: ['Strait of Malacca', 3.2, 100.4],
  hormuz: ['Strait of Hormuz', 26.5, 56.5],
  goodhope: ['Cape of Good Hope', -35.2, 18.5],
  channel: ['English Channel', 50.2, -1.0],
  biscay: ['Bay of Biscay', 45.5, -5.0],
  northsea: ['North Sea', 55.5, 3.0],
  gulfmexico: ['Gulf of Mexico', 26.5, -90.0],
  southchinasea: ['South China Sea', 13.5, 113.0],
  bengal: ['Bay of Bengal', 13.0, 87.5],
  northpacific: ['North Pacific', 45.0, -170.0],
} satisfies PlaceRows;
export const SHIPPING_LOCS = idsOf(SHIPPING_PLACES);

export const WILDFIRE_PLACES = {
  'us-california': ['California, United States', 38.5, -121.0, 'America/Los_Angeles'],
  'us-pacific-northwest': ['Pacific Northwest, United States', 44.5, -120.5, 'America/Los_Angeles'],
  'us-southwest': ['Southwestern United States', 34.2, -109.5, 'America/Phoenix'],
  'us-rockies': ['Rocky Mountains, United States', 41.5, -107.5, 'America/Denver'],
  'canada-bc': ['British Columbia, Canada', 51.8, -121.5, 'America/Vancouver'],
  'canada-alberta': ['Alberta, Canada', 55.0, -115.0, 'America/Edmonton'],
  'au-nsw': ['New South Wales, Australia', -33.0, 149.5, 'Australia/Sydney'],
  'au-victoria': ['Victoria, Australia', -37.0, 146.0, 'Australia/Melbourne'],
  'med-greece': ['Greece', 38.5, 22.5, 'Europe/Athens'],
  iberia: ['Iberian Peninsula', 40.2, -6.5, 'Europe/Madrid'],
  'amazon-brazil': ['Amazon, Brazil', -8.0, -60.0, 'America/Manaus'],
  'siberia-russia': ['Siberia, Russia', 62.0, 110.0, 'Asia/Krasnoyarsk'],
} satisfies PlaceRows;
export const WILDFIRE_REGIONS = idsOf(WILDFIRE_PLACES);

export const AIRPORT_PLACES = {
  ewr: ['Newark Liberty International', 40.6925, -74.1687, 'America/New_York'],
  lga: ['New York LaGuardia', 40.7772, -73.8726, 'America/New_York'],
  jfk: ['New York John F. Kennedy International', 40.6398, -73.7789, 'America/New_York'],
  sfo: ['San Francisco International', 37.6188, -122.3754, 'America/Los_Angeles'],
  ord: ["Chicago O'Hare International", 41.9786, -87.9048, 'America/Chicago'],
  bos: ['Boston Logan International', 42.3643, -71.0052, 'America/New_York'],
  phl: ['Philadelphia International', 39.8719, -75.2411, 'America/New_York'],
  atl: ['Hartsfield-Jackson Atlanta International', 33.6367, -84.4281, 'America/New_York'],
  dfw: ['Dallas/Fort Worth International', 32.8968, -97.038, 'America/Chicago'],
  den: ['Denver International', 39.8617, -104.6731, 'America/Denver'],
  clt: ['Charlotte Douglas International', 35.214, -80.9431, 'America/New_York'],
  iah: ['Houston George Bush Intercontinental', 29.9844, -95.3414, 'America/Chicago'],
  mia: ['Miami International', 25.7932, -80.2906, 'America/New_York'],
  sea: ['Seattle-Tacoma International', 47.449, -122.3093, 'America/Los_Angeles'],
  lax: ['Los Angeles International', 33.9425, -118.4081, 'America/Los_Angeles'],
  dca: ['Washington Reagan National', 38.8521, -77.0377, 'America/New_York'],
  mco: ['Orlando International', 28.4294, -81.309, 'America/New_York'],
  las: ['Las Vegas Harry Reid International', 36.0801, -115.1522, 'America/Los_Angeles'],
  phx: ['Phoenix Sky Harbor International', 33.4343, -112.0116, 'America/Phoenix'],
  mem: ['Memphis International', 35.0424, -89.9767, 'America/Chicago'],
  sdf: ['Louisville Muhammad Ali International', 38.1741, -85.736, 'America/New_York'],
  anc: ['Anchorage Ted Stevens International', 61.1744, -149.9964, 'America/Anchorage'],
} satisfies PlaceRows;
export const AIRPORTS = idsOf(AIRPORT_PLACES);

export const CROSSING_PLACES = {
  'laredo-world-trade': ['Laredo World Trade Bridge', 27.5969, -99.5375, 'America/Chicago'],
  'laredo-colombia': ['Laredo Colombia Solidarity Bridge', 27.7009, -99.7442, 'America/Chicago'],
  'laredo-bridge1': [
    'Laredo Gateway to the Americas Bridge (Bridge 1)',
    27.4995,
    -99.5075,
    'America/Chicago',
  ],
  'otay-mesa-commercial': ['Otay Mesa, commercial', 32.5502, -116.9385, 'America/Los_Angeles'],
  'san-ysidro': ['San Ysidro', 32.5432, -117.0292, 'America/Los_Angeles'],
  'el-paso-ysleta': ['El Paso Ysleta-Zaragoza Bridge', 31.6724, -106.3357, 'America/Denver'],
  'el-paso-bota': ['El Paso Bridge of the Americas', 31.7644, -106.4515, 'America/Denver'],
  pharr: ['Pharr-Reynosa International Bridge', 26.0667, -98.2054, 'America/Chicago'],
  hidalgo: ['Hidalgo-Reynosa International Bridge', 26.0957, -98.2713, 'America/Chicago'],
  'nogales-mariposa': ['Nogales Mariposa', 31.3335, -110.9765, 'America/Phoenix'],
  'calexico-east': ['Calexico East', 32.6743, -115.3884, 'America/Los_Angeles'],
  'brownsville-veterans': [
    'Brownsville Veterans International Bridge',
    25.8832,
    -97.4763,
    'America/Chicago',
  ],
  'detroit-ambassador': ['Detroit Ambassador Bridge', 42.3119, -83.074, 'America/Detroit'],
  'detroit-windsor-tunnel': ['Detroit-Windsor Tunnel', 42.3244, -83.0402, 'America/Detroit'],
  'buffalo-peace-bridge': ['Buffalo Peace Bridge', 42.907, -78.9053, 'America/New_York'],
  'port-huron-bluewater': ['Port Huron Blue Water Bridge', 42.9986, -82.4236, 'America/Detroit'],
  'blaine-pacific-hwy': ['Blaine Pacific Highway', 49.0021, -122.7351, 'America/Los_Angeles'],
  'blaine-peace-arch': ['Blaine Peace Arch', 49.0021, -122.7568, 'America/Los_Angeles'],
  champlain: ['Champlain-Lacolle', 45.0068, -73.452, 'America/New_York'],
  pembina: ['Pembina-Emerson', 48.9989, -97.2378, 'America/Chicago'],
} satisfies PlaceRows;
export const BORDER_CROSSINGS = idsOf(CROSSING_PLACES);

export const EARTHQUAKE_PLACES = {
  'california-san-andreas': ['California and the San Andreas Fault', 36.0, -120.5],
  'cascadia-pnw': ['Cascadia and the Pacific Northwest', 46.5, -123.5],
  'alaska-aleutians': ['Alaska and the Aleutians', 56.0, -157.0],
  japan: ['Japan', 37.5, 139.5],
  'sumatra-indonesia': ['Sumatra and Indonesia', -2.0, 110.0],
  philippines: ['Philippines', 12.0, 123.0],
  chile: ['Chile', -33.0, -71.0],
  mexico: ['Mexico', 18.0, -100.0],
  'central-america': ['Central America', 13.0, -87.0],
  'turkey-anatolia': ['Türkiye and Anatolia', 39.0, 35.0],
  'greece-italy-med': ['Greece, Italy and the central Mediterranean', 39.5, 19.0],
  iran: ['Iran', 32.5, 54.0],
  'nepal-himalaya': ['Nepal and the Himalaya', 28.4, 84.1],
  'new-zealand': ['New Zealand', -41.0, 174.0],
  iceland: ['Iceland', 64.9, -18.6],
  'png-solomon': ['Papua New Guinea and the Solomon Islands', -6.5, 150.0],
  taiwan: ['Taiwan', 23.7, 121.0],
  caribbean: ['Caribbean', 18.0, -70.0],
} satisfies PlaceRows;
export const EARTHQUAKE_REGIONS = idsOf(EARTHQUAKE_PLACES);

export const BASIN_PLACES = {
  atlantic: ['Atlantic basin', 25.0, -60.0],
  epacific: ['Eastern Pacific basin', 15.0, -115.0],
  cpacific: ['Central Pacific basin', 17.0, -160.0],
} satisfies PlaceRows;
export const HURRICANE_BASINS = idsOf(BASIN_PLACES);

export const DROUGHT_PLACES = {
  'us-california': ['California', 37.2, -119.5],
  'us-southwest': ['Southwest', 34.3, -109.5],
  'us-southernplains': ['Southern Plains', 33.2, -98.8],
  'us-northernplains': ['Northern Plains', 45.5, -101.0],
  'us-cornbelt': ['Corn Belt', 41.0, -91.0],
  'us-southeast': ['Southeast', 33.0, -83.5],
  'us-pacificnw': ['Pacific Northwest', 45.5, -120.5],
  'us-lowermississippi': ['Lower Mississippi', 33.2, -91.2],
  'us-northeast': ['Northeast', 42.8, -74.0],
  'us-rockies': ['Rocky Mountains', 41.0, -107.5],
} satisfies PlaceRows;
export const DROUGHT_REGIONS = idsOf(DROUGHT_PLACES);

/** 16 regions: the specification spells the first eight, the others are ours. */
export const CONVECTION_PLACES = {
  'tornado-alley-core': ['Core of Tornado Alley', 36.0, -97.8],
  'tx-panhandle-hail': ['Texas Panhandle', 35.2, -101.8],
  'central-kansas': ['Central Kansas', 38.5, -98.4],
  'front-range-co': ['Front Range, Colorado', 39.8, -104.7],
  'northern-plains': ['Northern Plains', 45.5, -100.5],
  'corn-belt-il': ['Corn Belt, Illinois', 40.2, -89.3],
  'ohio-valley': ['Ohio Valley', 39.0, -84.6],
  'florida-peninsula': ['Florida Peninsula', 28.0, -81.7],
  'red-river-ok': ['Red River, Oklahoma', 34.2, -97.6],
  'north-texas': ['North Texas', 32.9, -97.2],
  'dixie-alabama': ['Dixie Alley, Alabama', 33.4, -87.0],
  'ozarks-arkansas': ['Ozarks, Arkansas', 35.9, -93.2],
  'iowa-missouri': ['Iowa and Missouri', 40.6, -93.5],
  'southern-minnesota': ['Southern Minnesota', 44.2, -94.2],
  'carolina-piedmont': ['Carolina Piedmont', 35.5, -80.4],
  'mid-atlantic': ['Mid-Atlantic', 39.3, -77.0],
} satisfies PlaceRows;
export const CONVECTION_REGIONS = idsOf(CONVECTION_PLACES);

/** Points in the area of each authority. */
/** 18 balancing authorities: the specification spells the first nine, the others are ours. */
export const AUTHORITY_PLACES = {
  caiso: ['California ISO', 37.2, -119.8],
  ercot: ['Electric Reliability Council of Texas', 31.0, -98.0],
  miso: ['Midcontinent ISO', 41.5, -91.0],
  pjm: ['PJM Interconnection', 40.2, -77.5],
  spp: ['Southwest Power Pool', 37.7, -97.5],
  nyiso: ['New York ISO', 42.8, -75.0],
  isone: ['ISO New England', 43.2, -71.6],
  bpa: ['Bonneville Power Administration', 45.8, -120.5],
  tva: ['Tennessee Valley Authority', 35.5, -87.0],
  duke: ['Duke Energy Carolinas', 35.4, -81.0],
  fpl: ['Florida Power & Light', 26.8, -80.9],
  soco: ['Southern Company', 32.8, -85.0],
  azps: ['Arizona Public Service', 34.4, -112.3],
  psco: ['Public Service Company of Colorado', 39.6, -105.0],
  pacw: ['PacifiCorp West', 43.9, -122.0],
  ladwp: ['Los Angeles Department of Water and Power', 34.1, -118.3],
  srp: ['Salt River Project', 33.4, -111.8],
  walc: ['Western Area Power Administration, Desert Southwest', 33.6, -113.6],
} satisfies PlaceRows;
export const BALANCING_AUTHORITIES = idsOf(AUTHORITY_PLACES);

export const TICKERS = [
  'AAPL',
  'MSFT',
  'NVDA',
  'TSLA',
  'AMZN',
  'META',
  'GOOGL',
  'BA',
  'F',
  'INTC',
  'GME',
  'AMC',
  'CVNA',
  'PLTR',
  'NFLX',
  'DIS',
  'JPM',
  'BAC',
] as const;

/** The specification calls this list not exhaustive, so the line stays open. */
export const CLASS_NAMES = {
  anesthesia: 'Anesthesia',
  oncology: 'Oncology',
  'psychiatry-cns': 'Psychiatry and central nervous system',
  'analgesia-opioid': 'Analgesia and opioids',
  'anti-infective': 'Anti-infectives',
  cardiovascular: 'Cardiovascular',
  neurology: 'Neurology',
  gastroenterology: 'Gastroenterology',
  endocrine: 'Endocrinology and metabolism',
  hematology: 'Hematology',
  'pulmonary-allergy': 'Pulmonary and allergy',
  ophthalmology: 'Ophthalmology',
};
export const THERAPEUTIC_CLASSES = idsOf(CLASS_NAMES);

/** 24 generic names: the specification spells the first ten, the others are ours. */
export const DRUGS = [
  'carboplatin',
  'cisplatin',
  'oxaliplatin',
  'methotrexate',
  'fluorouracil',
  'epinephrine',
  'heparin',
  'vancomycin',
  'morphine',
  'fentanyl',
  'hydromorphone',
  'dexamethasone',
  'lidocaine',
  'bupivacaine',
  'midazolam',
  'ketamine',
  'propofol',
  'dobutamine',
  'norepinephrine',
  'furosemide',
  'potassium-chloride',
  'sodium-bicarbonate',
  'amoxicillin',
  'cyclophosphamide',
] as const;
