import { type Citation, citationSchema } from '../contract/citation.ts';
import { hasEnded, type IssuerKey } from '../contract/key-history.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import type { AnchorAnswer, AnchorCheck } from './anchored-before.ts';
import { type BodyCheck, checkAt } from './body-check.ts';
import { judgeSigner } from './key-trust.ts';
import { type ProofTrust, type ShownLeaf, shownLeaf } from './logged-check.ts';
import { memberPath, type ObjectNode } from './object-nodes.ts';
import { provableHashes } from './provable-hashes.ts';

/** Whom to believe, and the log of a release that was passed. */
export interface AnchorTrust extends ProofTrust {
  readonly anchors?: AnchorCheck;
}

/** A body as it was signed, and the proof that came with it. */
interface ProvenBody {
  readonly body: JsonValue;
  readonly proof: JsonValue | undefined;
}

const STATUS = {
  anchored: 'pass',
  reading: 'notApplicable',
  forged: 'fail',
  open: 'notApplicable',
} as const;
const HOW_TO_SHOW =
  'pass a release folder with --keys, or a fresh proof of its citation with --fresh-proof';

/**
 * A key that was revoked or that has ended can date back what it signs, with a tree and a checkpoint of its own: its citations
 * need something that it cannot have made, from before.
 */
export function anchorChecks(
  cited: readonly ObjectNode[],
  delivered: ProvenBody,
  trust: AnchorTrust,
): BodyCheck[] {
  // The proof is one, however many citations a body has.
  const shown = new Map<string, ShownLeaf | null>();
  const shownBy = (before: string): ShownLeaf | null => {
    const { body, proof } = delivered;
    const known = shown.get(before);
    if (known !== undefined || proof === undefined) return known ?? null;
    const leaf = shownLeaf({ body, proof }, trust, before);
    shown.set(before, leaf);
    return leaf;
  };
  return cited.flatMap((node) => anchorCheck(node, shownBy, trust));
}

function anchorCheck(
  node: ObjectNode,
  shownBy: (before: string) => ShownLeaf | null,
  trust: AnchorTrust,
): BodyCheck[] {
  const parsed = citationSchema.safeParse(node.value._citation);
  const key = trust.keys?.keys.find(({ did }) => did === parsed.data?.issuer_DID);
  if (!parsed.success || key === undefined) return [];
  const limit = limitOf(parsed.data, key, trust);
  if (limit === null) return [];
  const at = checkAt('anchor', memberPath(node.path, '_citation'));
  const { retrieved_at, record_hash: statement } = parsed.data;
  const [leaf = null] = provableHashes(node.value);
  const question = { body: node.value, leaf, statement, retrieved_at, ...limit };
  const own = limit.detail === null ? null : answerOf(node, limit, shownBy(limit.before));
  const answer = best(own, trust.anchors?.(question) ?? null);
  if (answer !== null) return [at[STATUS[answer.state]](answer.detail)];
  return limit.detail === null ? [] : [at.notApplicable(`${limit.detail}; ${HOW_TO_SHOW}`)];
}

/** Until when what a key signed counts. */
interface Limit {
  readonly before: string;
  readonly isRevoked: boolean;
  /** Why its age has to be shown; null where only a log can tell that it has to be. */
  readonly detail: string | null;
}

function limitOf(
  { issuer_DID: did, retrieved_at }: Citation,
  { revoked_from, valid_until }: IssuerKey,
  trust: AnchorTrust,
): Limit | null {
  const { status, detail } = judgeSigner(trust, did, retrieved_at);
  if (status === 'refused') return null;
  if (revoked_from !== null) return { before: revoked_from, isRevoked: true, detail };
  if (valid_until === null) return null;
  const isOver = trust.keys !== undefined && hasEnded(trust.keys, did, trust.now);
  const ended = `${did} was in use until ${valid_until}: what it signed counts only if that is shown to be older`;
  return { before: valid_until, isRevoked: false, detail: isOver ? ended : null };
}

/** What its own proof shows of the age of a body. */
function answerOf(
  { path }: ObjectNode,
  { before, isRevoked }: Limit,
  shown: ShownLeaf | null,
): AnchorAnswer | null {
  if (shown === null || (isRevoked && shown.by === 'present key')) return null;
  // A statement about the whole body vouches for all that stands in it, a reading for itself, a hash that is named for nothing.
  const isTop = ['', 'sample'].includes(path);
  const words = SHOWN_WORDS[shown.by](before);
  if (shown.leaf === 'statement' && (isTop || !isRevoked)) {
    return { state: 'anchored', detail: `in the log, ${words}` };
  }
  if (shown.leaf !== 'reading' || !isTop) return null;
  const rest = `its other words are signed by a key of the past alone; ${HOW_TO_SHOW}`;
  return { state: 'reading', detail: `only its reading is proven: in the log, ${words}; ${rest}` };
}

const SHOWN_WORDS: Readonly<Record<ShownLeaf['by'], (before: string) => string>> = {
  witnesses: (before) => `as witnesses saw it before ${before}`,
  'present key': () => 'by a checkpoint of a key that is still in use',
};

/** Of two answers the one that decides. */
function best(own: AnchorAnswer | null, given: AnchorAnswer | null): AnchorAnswer | null {
  const order = ['anchored', 'forged', 'reading', 'open'] as const;
  const answers = [own, given].flatMap((each) => each ?? []);
  return order.map((state) => answers.find((each) => each.state === state)).find(Boolean) ?? null;
}
