import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { NOTE_CHARS_MAX } from '../../../compiler/contract/checkpoint.ts';
import { defined } from '../../../compiler/contract/defined.ts';
import { questionOf } from '../../../compiler/verify/answer-fault.ts';
import type { Delivery } from '../forgeries/forgery.ts';
import type { ReaderCase } from './body-vector.ts';

/** Longer bodies show nothing that shorter ones of the kind do not. */
const TEXT_CHARS_MAX = 12_000;
const SERIES = '/gauge/history-series';
/** Requests that a body is expected to answer beside its own. */
const OTHERS = 2;

/** Bodies that are expected to answer their own request, those of others, and to be young. */
export function demandCases(bodies: readonly Delivery[], now: number): ReaderCase[] {
  const read = bodies
    .map(({ target, body }) => ({ target, body, text: JSON.stringify(body) }))
    .filter(({ text }) => text.length <= TEXT_CHARS_MAX);
  return read.flatMap(({ target, body, text }, at) => {
    const others = Array.from({ length: OTHERS }, (_, step) =>
      defined(read[(at + step + 1) % read.length], 'another body'),
    );
    const asked = others.filter((other) => other.target !== target);
    return [
      ...ownRequests(target, body).map((expect) => demanded('own request', text, expect)),
      ...asked.map((other) => refused('request of another body', text, other.target)),
      ...otherRequests(target).map((expect) => refused('another request', text, expect)),
      ...ageCases(body, text, now),
      ...proofCases(target, body),
      ...(at === 0 && body._proof !== undefined ? longProofs(body) : []),
    ];
  });
}

/** Ways to spell the request that a body answers. */
function ownRequests(target: string, body: Delivery['body']): string[] {
  const isSeries = target.startsWith(SERIES) && !target.includes('verifiable');
  const table = isSeries ? [withMore(target, 'format=csv-signed')] : [];
  const whole = `  GET  ${addressOf(body)}${target}`;
  return [target, `GET ${withMore(target, 'proof=0')}`, whole, ...table];
}

/** Legal requests that differ in one thing. */
function otherRequests(target: string): string[] {
  const entity = target.replace(/entity=[^&]+/, 'entity=ANOTHER');
  const isSeries = target.startsWith(SERIES) && !target.includes('verifiable');
  const series = [target.replace(/&days=\d+/, '&days=3'), withMore(target, 'verifiable=1')];
  const made = [entity, ...(isSeries ? series : [])].filter((other) => {
    return other !== target && questionOf(other, BUILTIN) !== null;
  });
  return [`https://other.example${target}`, ...made];
}

function withMore(target: string, more: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}${more}`;
}

function demanded(name: string, text: string, expect: string): ReaderCase {
  return { class: name, about: expect, text, want: 'verified', reader: { expect } };
}

function refused(name: string, text: string, expect: string): ReaderCase {
  return { ...demanded(name, text, expect), want: 'failed' };
}

/** Without its proof a body owes it; whoever demands it refuses, and whoever does not cares for nothing. */
function proofCases(target: string, { _proof, ...bare }: Delivery['body']): ReaderCase[] {
  const text = JSON.stringify(bare);
  const of = (want: ReaderCase['want'], demands_proof: boolean | null): ReaderCase => {
    return { class: 'no proof', about: target, text, want, reader: { demands_proof } };
  };
  return [of('unproven', null), of('failed', true), of('verified', false)];
}

/** Whoever delivers a body may add lines of signers that nobody knows, up to the length of a note. */
function longProofs({ _proof, ...body }: Delivery['body']): ReaderCase[] {
  const lengthened = (chars: number, want: ReaderCase['want']): ReaderCase => {
    const proof = `${String(_proof)}\u2014 stranger ${'A'.repeat(chars)}\n`;
    const text = JSON.stringify({ ...body, _proof: proof });
    return { class: 'long note', about: `${chars} characters more`, text, want, reader: {} };
  };
  return [lengthened(NOTE_CHARS_MAX / 2, 'verified'), lengthened(NOTE_CHARS_MAX, 'failed')];
}

/** A body is as old as its citation says; a settlement answer as the last look at the list. */
function ageCases({ _citation, coverage }: Delivery['body'], text: string, now: number) {
  const observed = (coverage as { readonly observed_at?: string } | undefined)?.observed_at;
  const { source } = _citation as unknown as { readonly source: { readonly published_at: string } };
  const age = now - Date.parse(observed ?? source.published_at);
  const about = (max_age_ms: number, want: ReaderCase['want']): ReaderCase => ({
    class: 'age',
    about: `at most ${max_age_ms} ms, ${age} ms old`,
    text,
    want,
    reader: { max_age_ms },
  });
  return [about(age, 'verified'), about(age - 1, 'failed')];
}

/** The address of the service that sold a body. */
function addressOf({ _citation }: Delivery['body']): string {
  const { verify_url } = _citation as unknown as { readonly verify_url: string };
  return verify_url.slice(0, verify_url.indexOf('/v/'));
}
