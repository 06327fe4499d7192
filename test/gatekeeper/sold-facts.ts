/** What is sold of a body: facts under these names, at any depth. */
const FACT_HOLDERS: readonly string[] = [
  'current',
  'previous',
  'change',
  'trend_7d',
  'standard_ruler',
  'stat_ruler',
  'strata',
  'calibrated',
  'history',
  'lifecycle',
  'pre_death_payload',
  'death_context',
  'endpoints_by_class',
];

/** Members that are sold wherever they stand: of records, rosters, filings and documents. */
const FACT_NAMES: readonly string[] = [
  'band',
  'summary_en',
  'summary_zh',
  'model',
  'domain',
  'first_endpoint',
  'score_total',
  'liveness_state',
  'liveness_streak',
  'baseline_delta',
  'calls_30d',
  'unique_payers_30d',
  'demand_class',
  'demand_depth',
  'last_called_at',
  'status',
  'missing_streak',
  'symbol',
  'coin_id',
  'death_type',
  'confirmed_dead_at',
  'pre_death_observed_at',
  'first_distress_at',
  'lifespan_days',
  'died_on',
  'first_seen',
  'last_seen',
  'accession',
  'items',
  'event_time',
  'filing_date',
  'disclosure_time',
  'evidence_url',
  'title',
  'text',
  'cross_line_narrative',
];

type Leaf = string | number;

/** Every fact of a sold body as `name` and value; below a `holder` there is nothing but facts. */
function factsOf(value: unknown, name = '', isHeld = false): (readonly [string, Leaf])[] {
  if (typeof value === 'string' || typeof value === 'number') {
    // Zero is what a schema's example shows where it shows no figure.
    return (isHeld || FACT_NAMES.includes(name)) && value !== 0 ? [[name, value]] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (key === '_citation' || key === 'provenance') return [];
    const own = Array.isArray(value) ? name : key;
    return factsOf(member, own, isHeld || FACT_HOLDERS.includes(key) || isDocumentRows(value, key));
  });
}

/** Rows of a document are what is sold of it, whatever their members are called. */
function isDocumentRows(body: object, key: string): boolean {
  return key === 'rows' && 'text' in body && 'title' in body;
}

/** Facts as they are found again: a member with its value, and a value that stands for itself. */
export interface Facts {
  readonly members: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

/** Shorter members say too little, as `"state":"ended"`: chance would find them again. */
const MEMBER_CHARS_MIN = 10;
/** A text of one word that no other fact is likely to be: a time, a number of a filing, an address. */
const VALUE = /^[^\s"',;<>()]{12,}$/;

export function soldFacts(bodies: Iterable<unknown>): Facts {
  const members = new Set<string>();
  const values = new Set<string>();
  for (const body of bodies) {
    for (const [name, value] of factsOf(body)) {
      const member = `"${name}":${JSON.stringify(value)}`;
      if (member.length >= MEMBER_CHARS_MIN) members.add(member);
      if (typeof value === 'string' && VALUE.test(value)) values.add(value);
    }
  }
  return { members, values };
}

const MEMBER = /"([A-Za-z0-9_.-]+)":("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)/g;

/** Every member and every word of a text that is a fact; a JSON text inside of another is read too. */
export function factsIn(text: string, { members, values }: Facts): ReadonlySet<string> {
  const plain = text.includes('\\"') ? `${text}\n${text.replaceAll('\\"', '"')}` : text;
  const found = new Set<string>();
  for (const [member] of plain.matchAll(MEMBER)) if (members.has(member)) found.add(member);
  for (const word of plain.split(/[\s"',;<>()]+/)) if (values.has(word)) found.add(word);
  return found;
}
