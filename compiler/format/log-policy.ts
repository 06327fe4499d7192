// C2SP tlog-policy: which logs a reader knows, which witnesses, and how many of them have to have cosigned a checkpoint.

import { bytesOfOctets } from './base64.ts';
import { NOTE_KEY, parseVerifierKey, type VerifierKey } from './checkpoint.ts';
import { messageOf } from './errors.ts';
import type { Sha256 } from './merkle.ts';

/** Longest policy that is read. */
export const POLICY_BYTES_MAX = 262_144;
const LOGS_MAX = 128;
const NAMES_MAX = 256;

/** What a policy says of checkpoints. */
export interface LogPolicy {
  /** One of them must have signed; none says nothing about logs. */
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  /** Who must have cosigned; null for nobody. */
  readonly quorum: PolicyMember | null;
}

/** A log by its key, whose name is the origin of its checkpoints. */
interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | null;
}

/** A witness; `name` is of the policy alone, `key.name` stands in signature lines. */
export interface PolicyWitness {
  readonly kind: 'witness';
  readonly name: string;
  readonly key: VerifierKey;
  /** Where it is asked, as a submission prefix of tlog-witness. */
  readonly url: string | null;
}

/** So many of its members must have witnessed a checkpoint. */
interface PolicyGroup {
  readonly kind: 'group';
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly PolicyMember[];
}

export type PolicyMember = PolicyWitness | PolicyGroup;

/** Reads a policy strictly; throws a RangeError that names the line. */
export function parseLogPolicy(bytes: Uint8Array, sha256: Sha256): LogPolicy {
  if (bytes.length > POLICY_BYTES_MAX) throw unreadable(`longer than ${POLICY_BYTES_MAX} bytes`);
  // One character an octet: names are compared as octets, whatever they mean.
  const octets = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const lines = octets.split('\n');
  if (lines.pop() !== '') throw unreadable('its last line has no line end, so it may be cut off');
  const reader = new PolicyReader(sha256);
  for (const [at, line] of lines.entries()) {
    try {
      reader.take(line);
    } catch (cause) {
      throw unreadable(`line ${at + 1}: ${messageOf(cause)}`, cause);
    }
  }
  return reader.finish();
}

const KEYWORDS = ['log', 'witness', 'group', 'quorum'] as const;
const NONE = 'none';

/** Takes one line after the other; what a line refers to stands above it. */
class PolicyReader {
  readonly #logs: PolicyLog[] = [];
  readonly #names = new Map<string, PolicyMember>();
  /** Names that are members of a group. */
  readonly #taken = new Set<string>();
  #quorum: { readonly member: PolicyMember | null } | null = null;
  readonly #sha256: Sha256;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  take(line: string): void {
    const stray = [...line].find(isControl);
    if (stray !== undefined) throw new RangeError(strayText(stray));
    const [word = '', ...rest] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (word === '' || word.startsWith('#')) return;
    const keyword = KEYWORDS.find((known) => known === word);
    if (keyword === undefined) {
      throw new RangeError(`"${shown(word)}" is not one of ${KEYWORDS.join(', ')}`);
    }
    this[keyword](rest);
  }

  finish(): LogPolicy {
    const witnesses = [...this.#names.values()].filter((each) => each.kind === 'witness');
    if (this.#quorum === null) {
      throw unreadable('no quorum line; add one, such as "quorum none" or the name of a witness');
    }
    return { logs: this.#logs, witnesses, quorum: this.#quorum.member };
  }

  log([vkey, url, ...more]: readonly string[]): void {
    if (vkey === undefined || more.length > 0) throw new RangeError('not "log <vkey> [<url>]"');
    const key = this.#key(vkey);
    if (key.type !== NOTE_KEY.log) throw wrongType(key, 'a log', NOTE_KEY.log);
    if (this.#logs.length === LOGS_MAX) throw new RangeError(`more than ${LOGS_MAX} logs`);
    this.#logs.push({ key, url: urlOf(url) });
  }

  witness([name, vkey, url, ...more]: readonly string[]): void {
    if (name === undefined || vkey === undefined || more.length > 0) {
      throw new RangeError('not "witness <name> <vkey> [<url>]"');
    }
    const key = this.#key(vkey);
    const isWitness = key.type === NOTE_KEY.witness || key.type === NOTE_KEY.mldsaWitness;
    if (!isWitness) throw wrongType(key, 'a witness', NOTE_KEY.witness);
    this.#define(name, { kind: 'witness', name: shown(name), key, url: urlOf(url) });
  }

  group([name, count, ...names]: readonly string[]): void {
    if (name === undefined || count === undefined || names.length === 0) {
      throw new RangeError('not "group <name> <all, any or a number> <name>…"');
    }
    const members = names.map((member) => this.#member(member));
    const threshold = thresholdOf(count, members.length);
    this.#define(name, { kind: 'group', name: shown(name), threshold, members });
  }

  quorum([name, ...more]: readonly string[]): void {
    if (name === undefined || more.length > 0) throw new RangeError('not "quorum <name>"');
    if (this.#quorum !== null) throw new RangeError('a second quorum line');
    this.#quorum = { member: name === NONE ? null : this.#named(name) };
  }

  /** A key stands in one line alone: whoever has that of a log could be its witness too. */
  #key(octets: string): VerifierKey {
    const key = parseVerifierKey(strictText(octets), this.#sha256);
    const witnesses = [...this.#names.values()].filter((each) => each.kind === 'witness');
    const known = [...this.#logs, ...witnesses];
    const isTwice = known.some(({ key: { publicKey } }) => isSameKey(publicKey, key.publicKey));
    if (isTwice) throw new RangeError(`the key of "${key.name}" stands in an earlier line`);
    return key;
  }

  #define(name: string, member: PolicyMember): void {
    if (name === NONE)
      throw new RangeError(`"${NONE}" has a meaning of its own; name it otherwise`);
    if (this.#names.has(name)) throw new RangeError(`"${shown(name)}" is defined twice`);
    if (this.#names.size === NAMES_MAX) throw new RangeError(`more than ${NAMES_MAX} names`);
    this.#names.set(name, member);
  }

  #member(name: string): PolicyMember {
    const member = this.#named(name);
    if (this.#taken.has(name)) throw new RangeError(`"${shown(name)}" is a member twice`);
    this.#taken.add(name);
    return member;
  }

  #named(name: string): PolicyMember {
    const member = this.#names.get(name);
    if (member !== undefined) return member;
    throw new RangeError(`no line above defines "${shown(name)}"`);
  }
}

function thresholdOf(count: string, members: number): number {
  if (count === 'all') return members;
  if (count === 'any') return 1;
  const threshold = /^[1-9][0-9]{0,8}$/.test(count) ? Number(count) : 0;
  if (threshold >= 1 && threshold <= members) return threshold;
  throw new RangeError(`"${shown(count)}" is not all, any, or a number from 1 to ${members}`);
}

function isControl(octet: string): boolean {
  return (octet < ' ' && octet !== '\t') || octet === '\u007f';
}

function strayText(char: string): string {
  if (char === '\r') return 'it ends in CR LF; save the file with line ends LF';
  return `octet ${char.charCodeAt(0)} is not allowed`;
}

function wrongType({ name, type }: VerifierKey, what: string, wanted: number): RangeError {
  return new RangeError(
    `the key of "${name}" is of type ${type}; the key of ${what} is of type ${wanted}`,
  );
}

function urlOf(octets: string | undefined): string | null {
  return octets === undefined ? null : strictText(octets);
}

function isSameKey(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** What octets say to a person. */
function shown(octets: string): string {
  return new TextDecoder().decode(bytesOfOctets(octets)).slice(0, 80);
}

function strictText(octets: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOfOctets(octets));
  } catch (cause) {
    throw new RangeError(`"${shown(octets)}" is not UTF-8`, { cause });
  }
}

function unreadable(why: string, cause?: unknown): RangeError {
  return new RangeError(`Cannot read the policy: ${why}`, { cause });
}

/** Whether a member has witnessed a checkpoint that these witnesses have cosigned. */
export function hasWitnessed(member: PolicyMember, cosigned: ReadonlySet<PolicyMember>): boolean {
  if (member.kind === 'witness') return cosigned.has(member);
  return countWitnessed(member, cosigned) >= member.threshold;
}

/** What a member lacks to have witnessed a checkpoint, by name; an empty text where it lacks nothing. */
export function shortfall(member: PolicyMember, cosigned: ReadonlySet<PolicyMember>): string {
  if (hasWitnessed(member, cosigned)) return '';
  if (member.kind === 'witness')
    return `no cosignature of ${member.name}${isChecked(member) ? '' : UNCHECKED}`;
  const { name, threshold, members } = member;
  const absent = members.filter((each) => !hasWitnessed(each, cosigned));
  return `${countWitnessed(member, cosigned)} of ${threshold} of ${name} (without ${absent.map((each) => each.name).join(', ')})`;
}

const UNCHECKED = ', whose ML-DSA-44 key this program does not check';

/** Whether cosignatures of a witness can be checked here: of Ed25519 alone. */
export function isChecked({ key }: PolicyWitness): boolean {
  return key.type === NOTE_KEY.witness;
}

function countWitnessed({ members }: PolicyGroup, cosigned: ReadonlySet<PolicyMember>): number {
  return members.filter((each) => hasWitnessed(each, cosigned)).length;
}
