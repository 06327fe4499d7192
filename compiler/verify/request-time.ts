import { REQUEST_TIME_FIELDS, sampleIn } from '../format/citation.ts';
import { HOUR_MS, isoTime, utcTime } from '../format/iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import {
  AT_REQUEST,
  answeredAt,
  hasAtRequest,
  requestTimeMembers,
} from '../products/shapes/request-time.ts';
import { type BodyCheck, checkAt, memberPath, type ObjectNode } from './body-check.ts';
import { isSame } from './relation.ts';

// What a body says of the moment it was asked for is outside every hash and signature (FORMAT.md, section 4). The body says
// which moment that was, and signs which words it owes. They are made again here by the function that wrote them: none may
// be missing, none may be there beside them, and none may differ.

/** Clocks of service, publisher and reader may differ by this much. */
export const CLOCK_SKEW_MS = 300_000;

export interface TimeReader {
  /** Clock of the reader, epoch milliseconds: nothing was answered later. */
  readonly now?: number | undefined;
  /** Whether the body is judged as a release holds it: then it has none of these words. */
  readonly isStored?: boolean;
}

const at = (where: string) => checkAt('request_time', where);
const NO_LIST =
  'lacks "at_request", which lists its words of time: of a format of before, or the list was cut out';
const FOREIGN = 'words of time of another service, which nobody signed: they are not judged';
const UNLISTED = 'is there, but "at_request" does not list it, or nothing signed gives it';

/** Whether the words of time in a body are those that it owes at the instant that it names, and whether that can have been. */
export function requestTimeChecks(nodes: readonly ObjectNode[], by: TimeReader): BodyCheck[] {
  const [root] = nodes;
  if (root === undefined) return [];
  const shown = new Map<JsonObject, ShownWords>();
  collectWords(root.value, '', shown);
  const citation = (sampleIn(root.value) ?? root.value)._citation;
  const isForeign = isObject(citation) && citation.claim === undefined;
  const isListed = nodes.some(({ value }) => hasAtRequest(value) || value._citation !== undefined);
  if (isForeign || !isListed) return shown.size === 0 ? [] : [at('').notApplicable(FOREIGN)];
  const checks = [...timedParts(nodes)].flatMap((part) => partChecks(part, { nodes, shown, by }));
  // What is left stands where nothing owes it.
  for (const { path, words } of shown.values()) checks.push(...differing(path, words, {}));
  const faults = checks.filter(({ status }) => status === 'fail');
  const blind = faults.filter(({ where }) => where.endsWith('.answered_at'));
  return blind.length > 0 ? blind : faults.length > 0 ? faults : checks;
}

/** An object whose provenance has an age. */
interface TimedPart {
  readonly node: ObjectNode;
  readonly provenance: JsonObject;
  /** That of the answer around it, where it is inside of one; NaN where there is none. */
  readonly instant: number;
  readonly isInside: boolean;
}

/** An answer is the whole body, the record of a sample, or a row of a watchlist: what is inside of it has its instant. */
function* timedParts(nodes: readonly ObjectNode[]): Generator<TimedPart> {
  let answer = { start: '\0', instant: Number.NaN };
  for (const node of nodes) {
    const { provenance } = node.value;
    if (!isObject(provenance) || provenance.freshness_basis === undefined) continue;
    const isInside = node.path.startsWith(answer.start);
    if (!isInside) answer = { start: memberPath(node.path, ''), instant: answeredAt(node.value) };
    yield { node, provenance, instant: answer.instant, isInside };
  }
}

interface Judging {
  readonly nodes: readonly ObjectNode[];
  /** What no part has owed yet. */
  readonly shown: Map<JsonObject, ShownWords>;
  readonly by: TimeReader;
}

function partChecks(part: TimedPart, { nodes, shown, by }: Judging): BodyCheck[] {
  const { node, provenance, instant, isInside } = part;
  const where = memberPath(node.path, 'provenance');
  if (!hasAtRequest(node.value)) return [at(where).fail(NO_LIST)];
  const made = requestTimeMembers(node.value, Number.isNaN(instant) ? 0 : instant);
  const odd = listFault(provenance.at_request, made.lacking);
  return [
    ...(odd === null ? [] : [at(memberPath(where, 'at_request')).fail(odd)]),
    ...(isInside || by.isStored === true
      ? []
      : [instantCheck(part, { nodes, now: by.now, word: made.provenance.freshness })]),
    ...(by.isStored === true ? [] : owedChecks(node, made, shown)),
  ];
}

function owedChecks(
  { path, value }: ObjectNode,
  { own, provenance, legs }: ReturnType<typeof requestTimeMembers>,
  shown: Map<JsonObject, ShownWords>,
): BodyCheck[] {
  const owed = [
    [value, own, path],
    [value.provenance, provenance, memberPath(path, 'provenance')],
    ...Object.entries(legs).map(([name, word]) => {
      const leg = (value.legs as JsonObject)[name];
      return [leg, word, memberPath(memberPath(path, 'legs'), name)] as const;
    }),
  ] as const;
  return owed.flatMap(([holder, words, where]) => {
    const object = holder as JsonObject;
    const found = shown.get(object)?.words ?? {};
    shown.delete(object);
    return differing(where, found, words);
  });
}

interface ShownWords {
  readonly path: string;
  readonly words: JsonObject;
}

/** All that the content hash leaves out, at any depth, by the object that it stands in. */
function collectWords(value: JsonValue, path: string, found: Map<JsonObject, ShownWords>): void {
  if (isObject(value)) {
    const words = Object.entries(REQUEST_TIME_FIELDS).flatMap(([basis, fields]) => {
      const names = Object.hasOwn(value, basis) ? fields : [];
      return names.flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]]] : []));
    });
    if (words.length > 0) found.set(value, { path, words: Object.fromEntries(words) });
  }
  for (const [key, member] of Object.entries<JsonValue>(value as JsonObject)) {
    if (typeof member !== 'object' || member === null) continue;
    collectWords(member, memberPath(path, key), found);
  }
}

function differing(path: string, shown: JsonObject, right: JsonObject): BodyCheck[] {
  return [...new Set([...Object.keys(right), ...Object.keys(shown)])].flatMap((name) => {
    const [got, want] = [shown[name], right[name]];
    if (isSame(got, want)) return [];
    const follows = `${JSON.stringify(want)} follows from the signed members and "answered_at"`;
    const detail =
      want === undefined ? UNLISTED : got === undefined ? `missing: ${follows}` : follows;
    return [at(memberPath(path, name)).fail(detail)];
  });
}

/** What is wrong with a list: its names are known, sorted, each once, and each follows from signed members. */
function listFault(list: JsonValue | undefined, lacking: readonly JsonValue[]): string | null {
  const names: readonly JsonValue[] = Array.isArray(list) ? list : [];
  const right = AT_REQUEST.filter((name) => names.includes(name));
  if (!isSame(list, right)) return 'not a sorted list of known names';
  return lacking.length === 0 ? null : `${lacking.join(', ')}: follows from nothing that is signed`;
}

/** Whether a body can have been answered when it says; what it said is of then, and it may be judged long after. */
function instantCheck(
  { node, provenance, instant }: TimedPart,
  {
    nodes,
    now = Infinity,
    word,
  }: { nodes: readonly ObjectNode[]; now: number | undefined; word: JsonValue | undefined },
): BodyCheck {
  const here = at(memberPath(node.path, 'provenance.answered_at'));
  if (provenance.answered_at === undefined) {
    return here.fail('missing: it is a body as it is stored, or somebody cut it out');
  }
  if (Number.isNaN(instant)) {
    return here.fail('not a time in whole seconds such as 2026-01-15T10:00:00Z');
  }
  if (instant < earliest(nodes) - CLOCK_SKEW_MS) return here.fail('before the body was collected');
  if (instant > now + CLOCK_SKEW_MS) return here.fail('still to come by the clock of the judge');
  const said = `${word === undefined ? 'answered' : `said ${String(word)}`} at ${isoTime(instant)}`;
  const isPast = Number.isFinite(now) && now - instant > CLOCK_SKEW_MS;
  const hours = Math.round(((now - instant) / HOUR_MS) * 10) / 10;
  const age = isPast ? `, ${hours} h ago by the clock of the judge` : '';
  return here.pass(`${said}${age}; its words of time follow from signed members`);
}

/** Nothing is answered before it was collected and, for the last time, looked at. */
function earliest(nodes: readonly ObjectNode[]): number {
  const times = nodes.flatMap(({ value: { _citation, last_looked_at } }) => [
    last_looked_at,
    isObject(_citation) ? _citation.retrieved_at : undefined,
  ]);
  const known = times.map((time) => (typeof time === 'string' ? utcTime(time) : Number.NaN));
  return known.reduce((latest, time) => (time > latest ? time : latest), -Infinity);
}
