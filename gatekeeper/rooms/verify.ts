import type { Catalog } from '../../compiler/catalog/catalog.ts';
import type { VerifyEntry } from '../../compiler/format/release.ts';
import type { Answered, Question, Service } from '../heart/answers/service.ts';
import { wantsPage } from '../wire/header-facts.ts';
import { type Header, jsonReply, type Reply } from '../wire/reply.ts';
import { pageShop, SITE_POLICY, verifyPage } from './atlas/pages.ts';
import { undetermined } from './json-content.ts';
import {
  type FreeFacts,
  freeFacts,
  HASH_PREFIX_MIN,
  hashPrefix,
  isOfReading,
  type LookUp,
  lookUpHash,
  type Recomputed,
} from './verify-hash.ts';

const VARY: Header = ['vary', 'accept'];

/** `/gauge/verify` and `/v/:record_hash`: whether a hash is ours, recomputed. Computed, because any hash may be asked for. */
export async function verify(question: Question, service: Service): Promise<Answered> {
  const { hash, record_hash: segment } = question.route.values;
  const digits = hashPrefix(hash ?? segment ?? '');
  if (digits === null) return { kind: 'reply', reply: verifyUsage() };
  let found: LookUp;
  try {
    const { release, sold } = service;
    found = await lookUpHash(digits, { release, sold, spend: question.spend });
  } catch (error) {
    return undetermined({ endpoint: 'gauge/verify', hash: `sha256:${digits}` }, error, service);
  }
  const body = verification(digits, found, service.release.catalog);
  const page = wantsPage(question.accept);
  const text = page ? verifyPage(body, pageShop(service.release)) : JSON.stringify(body);
  const contentType = page ? 'text/html; charset=utf-8' : 'application/json';
  const headers = page ? [VARY, ...SITE_POLICY, NO_SNIFF] : [VARY];
  const content = { body: Buffer.from(text, 'utf8'), contentType, headers, keepMs: 0 };
  return { kind: 'content', content };
}

const NO_SNIFF: Header = ['x-content-type-options', 'nosniff'];

export function verifyUsage(): Reply {
  return jsonReply(400, {
    error: `Send hash=sha256:<64 hex>, or at least its first ${HASH_PREFIX_MIN} hex digits in lower case`,
    usage: '/gauge/verify?hash=sha256:<64 hex>',
    no_charge: true,
  });
}

function verification(digits: string, found: LookUp, catalog: Catalog) {
  if (found.state === 'listed') return listedBody(found, catalog);
  const matches = found.state === 'ambiguous' ? found.matches : 0;
  return {
    endpoint: 'gauge/verify',
    hash: `sha256:${digits}`,
    found: false,
    verified: false,
    recomputed_hash: null,
    is_issuer_record: false,
    is_truth_bear_record: false,
    signal_id: null,
    entity: null,
    observed_at: null,
    source_ref: null,
    scope: null,
    ots_status: null,
    record_status: { state: 'not_found' },
    ...(matches > 0 ? { ambiguous: true, matches } : {}),
    note:
      matches > 0
        ? `ambiguous: ${matches} records start with these digits; send more digits`
        : 'no hash in this release, or in a body sold recently, starts with these digits. The statement of a body is known ' +
          'here while it is current; the _proof in the body shows when it was, offline or with POST /verify',
    statement:
      matches > 0
        ? 'This prefix stands for more than one record, so it attests none of them.'
        : 'This hash attests nothing that is known here.',
  };
}

function listedBody({ entry, check }: Extract<LookUp, { state: 'listed' }>, catalog: Catalog) {
  const { record_hash, kind, state } = entry;
  // Why it was not recomputed.
  const unchecked = entry.file === null ? SUPERSEDED_NOTE : LONG_NOTE;
  const facts = freeFacts(entry, catalog);
  const body = isOfReading(entry, catalog) ? (check?.body ?? {}) : {};
  return {
    endpoint: 'gauge/verify',
    hash: record_hash,
    found: true,
    verified: check?.recomputedHash === record_hash,
    recomputed_hash: check?.recomputedHash ?? null,
    is_issuer_record: true,
    is_truth_bear_record: true,
    record_status: { state },
    ...facts,
    source_ref: textOrNull(body.source_ref),
    scope: textOrNull(body.scope),
    note: check === null ? unchecked : entry.file === null ? SOLD_NOTE : CURRENT_NOTES[kind],
    ots_status: textOrNull(body.ots_status),
    statement: statementOf(entry, check, facts),
  };
}

const SUPERSEDED_NOTE =
  'a later reading has replaced it; the signed list of this release names it, but its fields are not recomputed here';
const LONG_NOTE =
  'the signed list of this release names it; its file is too large to recompute in a free look-up; run signalpress verify on the body';

const SOLD_NOTE =
  'recomputed just now: sha256 over the canonical JSON of the signed citation statement of the body as it was sold; a newer release has replaced it';
const CURRENT_NOTES = {
  reading:
    'recomputed just now: sha256 over the canonical JSON of the hash core of the stored record',
  row: 'recomputed just now: sha256 over the canonical JSON of the hash core of the stored roster row',
  citation: 'recomputed just now: sha256 over the canonical JSON of the signed citation statement',
} as const;

function statementOf(entry: VerifyEntry, check: Recomputed | null, facts: FreeFacts): string {
  const { record_hash, kind, state, file } = entry;
  const { signal_id, entity, observed_at } = facts;
  const names = [signal_id, entity].filter((name) => name !== null);
  const of = names.length === 0 ? '' : ` of ${names.join(' at ')}`;
  const time = observed_at === null ? '' : ` observed ${observed_at}`;
  const what = `${ATTESTED[kind]}${of}${time}`;
  if (check === null) {
    const standing =
      state === 'current' ? 'lists in this release' : 'published and later superseded';
    return `This hash stands for ${what}, which this issuer ${standing}.`;
  }
  if (check.recomputedHash !== record_hash) {
    return 'The stored record does not have this hash; do not rely on it.';
  }
  const standing = file === null ? 'as an earlier release sold it' : 'as this issuer published it';
  return `This hash attests ${what}, exactly ${standing}; it describes and does not advise.`;
}

const ATTESTED = {
  reading: 'the reading',
  row: 'a row, filing or document',
  citation: 'the signed citation',
} as const;

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
