import {
  firstHistory,
  type KeyHistory,
  type ReceiptKey,
  statementBytes,
  withReceiptKeys,
} from '../../compiler/format/key-history.ts';
import { signBytes } from '../../compiler/system/sealer.ts';
import { type ServiceSigner, serviceSigner } from '../../gatekeeper/settle/extensions.ts';
import { NOW_MS } from './payer.ts';
import { tinyKey } from './tiny-release.ts';

/** The seed of the key that signs offers and receipts in tests, 64 hex digits. */
export const SIGNER_SEED = '07'.repeat(32);
export const SIGNER_DID = tinyKey(7).did;

/** The keys of the issuer of tiny releases, with statements about the receipt key. */
export function listingKeys(...changes: readonly Partial<ReceiptKey>[]): KeyHistory {
  const statements = changes.length === 0 ? [statementOf()] : changes.map(statementOf);
  return withReceiptKeys(firstHistory(tinyKey(1).did), statements);
}

function statementOf(change: Partial<ReceiptKey> = {}): ReceiptKey {
  const issuer = tinyKey(1);
  const statement = {
    ...{ type: 'receipt_key' as const, did: SIGNER_DID, since: '2026-11-01T00:00:00Z' },
    ...{ until: null, stated_at: '2026-11-01T00:00:00Z', signed_by: issuer.did, signature: '' },
    ...change,
  };
  return { ...statement, signature: signBytes(statementBytes(statement), issuer.key) };
}

/** A signer whose key these keys list, or do not list. */
export function listedSigner(keys = listingKeys(), seed = SIGNER_SEED): ServiceSigner {
  const signer = serviceSigner({ seed, clock: () => NOW_MS });
  signer.show(keys);
  return signer;
}
