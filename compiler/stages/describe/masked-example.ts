/** Rows of a list that an example shows. */
const ROWS_SHOWN = 2;

const HASH = /^sha256:[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Members that say what a body is; they are in every free list already. */
const SHOWN: readonly string[] = [
  'nature',
  'dim',
  'tier',
  'addon',
  'signal_id',
  'signal',
  'line',
  'entity',
  'entity_name',
  'location',
  'name',
  'official_cadence',
  'freshness_basis',
  'served_from',
  'state',
  'mode',
  'model',
  'direction',
  'direction_reason',
  'hash_core_version',
  'ots_status',
  'schema_version',
  'statement_type',
  'issuer',
  'issuer_DID',
  'key_id',
  'grade',
  'scope',
];

/** The shape of a body: figures are zero, texts, times and hashes stand-ins of the same form, lists cut short. */
export function maskedExample(value: unknown, name = ''): unknown {
  if (SHOWN.includes(name)) return value;
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) return value.slice(0, ROWS_SHOWN).map((item) => maskedExample(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, maskedExample(member, key)]),
  );
}

function maskedText(text: string): string {
  if (HASH.test(text)) return `sha256:${'0'.repeat(64)}`;
  if (TIME.test(text)) return '2000-01-01T00:00:00Z';
  if (DAY.test(text)) return '2000-01-01';
  if (/^https?:\/\//.test(text)) return 'https://example.org/';
  return '…';
}
