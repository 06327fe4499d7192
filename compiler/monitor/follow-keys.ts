import {
  isContinued,
  KEYS_BYTES_MAX,
  type KeyHistory,
  vouchedDids,
} from '../contract/key-history.ts';
import type { RootStatement } from '../contract/root-statement.ts';
import { KEYS_URL } from '../contract/static-files.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from '../verify/body-check.ts';
import { listFault } from '../verify/key-trust.ts';
import type { Finding } from './finding.ts';
import { type KeysContradiction, keysContradiction } from './keys-contradiction.ts';
import { keysOfText } from './keys-text.ts';
import type { MonitorState } from './monitor-state.ts';
import { anyEnded, knownKeys, type Round, trustOf } from './round.ts';

/** Reads the list of keys, which may only grow. */
export async function followKeys(round: Round): Promise<void> {
  const { state, findings } = round;
  const bytes = await round.client.get(KEYS_URL, KEYS_BYTES_MAX);
  if (bytes === null) {
    if (state.keys !== null)
      findings.push({ kind: 'key_unlisted', detail: 'its list of keys is gone' });
    return;
  }
  try {
    const text = decodeUtf8(bytes);
    compareKeys(round, text, keysOfText(text));
  } catch (error) {
    findings.push({ kind: 'unreadable', about: KEYS_URL, detail: reason(error) });
  }
}

function compareKeys(round: Round, text: string, next: KeyHistory): void {
  const { state, findings } = round;
  const { keys: old } = knownKeys(state);
  if (old === undefined) {
    const fault = listFault(next, trustOf(state)) ?? strangerFault(next, state);
    if (fault === null) state.keys = text;
    else {
      const detail = `its list of keys: ${fault}`;
      findings.push({ kind: 'unknown_key', about: KEYS_URL, detail });
    }
    return;
  }
  if (isContinued(old, next)) {
    round.news.push(...keyNews(old, next));
    state.keys = text;
    return;
  }
  const contradiction = keysContradiction(old, next);
  findings.push(
    contradiction === null || state.keys === null
      ? { kind: 'key_unlisted', detail: unlistedDetail(old, next) }
      : keysFinding(round, contradiction, [state.keys, text]),
  );
}

function keysFinding(
  round: Round,
  { says: detail, signers, isByRoot }: KeysContradiction,
  lists: [string, string],
): Finding {
  const past = isByRoot ? null : anyEnded(round, signers);
  return past === null
    ? { kind: 'key_fork', detail, proof: { kind: 'keys', lists } }
    : { kind: 'unknown_key', about: KEYS_URL, detail: `its list of keys: ${detail}; ${past}` };
}

function strangerFault(next: KeyHistory, { issuers, roots }: MonitorState): string | null {
  if (vouchedDids(next, { issuers, roots }).length > 0) return null;
  return 'it names none that is believed; pass the right one with --issuer, or its root keys with --root';
}

function unlistedDetail(old: KeyHistory, next: KeyHistory): string {
  const gone = old.keys.find(({ did }) => !next.keys.some((key) => key.did === did));
  if (gone !== undefined) return `${gone.did} is no longer in its list of keys`;
  const version = old.roots?.length ?? 0;
  if ((next.roots?.length ?? 0) < version) {
    return `version ${version} of its root is no longer in its list of keys`;
  }
  return 'a statement that was in its list of keys no longer is';
}

function rootNews({ version, threshold, root_keys }: RootStatement): string {
  return `version ${version} of a root stands above its keys: ${threshold} of ${root_keys.join(', ')}`;
}

function keyNews(old: KeyHistory, next: KeyHistory): string[] {
  const added = next.keys.slice(old.keys.length).map(({ did }) => `new issuer key ${did}`);
  const before = new Set(old.keys.flatMap((key) => (key.revoked_from === null ? [] : [key.did])));
  const revoked = next.keys.filter(
    ({ did, revoked_from }) => revoked_from !== null && !before.has(did),
  );
  const roots = (next.roots ?? []).slice(old.roots?.length ?? 0).map(rootNews);
  return [
    ...roots,
    ...added,
    ...revoked.map(({ did, revoked_from }) => `${did} is revoked from ${revoked_from} on`),
  ];
}
