/** Members that say how a body was made; a buyer decides by the others. */
const LEFT_OUT: readonly string[] = [
  '_citation',
  'provenance',
  'decision_points',
  'record_hash_verifiable',
  'update_status',
  'previous',
  'change',
  'trend_7d',
  'sources',
  'summary_en',
  'summary_zh',
  'coverage',
  'evidence',
  'columns',
  'retained',
];
/** Members that every buyer looks for: they are shown however long the others are. */
const FIRST: readonly string[] = ['current', 'record_hash'];
/** Characters of JSON that one member may have, and all of them together. */
const MEMBER_CHARS_MAX = 520;
const OUTLINE_CHARS_MAX = 1200;

/**
 * The main members of an example body, short enough for a challenge and its header. Lists are cut to their first item,
 * and an object that is still too long to its first member; no value is changed.
 */
export function outline(body: object): Readonly<Record<string, unknown>> {
  const short = Object.entries(body)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, value]) => [name, fitting(shortened(value))] as const);
  const kept = new Set(namesThatFit(short));
  return Object.fromEntries(short.filter(([name]) => kept.has(name)));
}

/** Names of members as far as there is room, in their order behind those that go first. */
function namesThatFit(members: readonly (readonly [string, unknown])[]): string[] {
  const rank = (name: string): number => (FIRST.includes(name) ? 0 : 1);
  let room = OUTLINE_CHARS_MAX;
  return members
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .flatMap(([name, value]) => {
      const chars = JSON.stringify(value).length + name.length;
      if (chars > Math.min(room, MEMBER_CHARS_MAX)) return [];
      room -= chars;
      return [name];
    });
}

function fitting(value: unknown): unknown {
  if (JSON.stringify(value).length <= MEMBER_CHARS_MAX || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).slice(0, 1));
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened);
  if (!isPlain(value)) return value;
  const members = Object.entries(value).filter(([name]) => !LEFT_OUT.includes(name));
  return Object.fromEntries(members.map(([name, member]) => [name, shortened(member)]));
}
