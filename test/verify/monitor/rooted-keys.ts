import { firstHistory, withRoots } from '../../../compiler/format/key-history.ts';
import { type RootStatement, rootBytes } from '../../../compiler/format/root-statement.ts';
import { signBytes, signingKey } from '../../../compiler/system/sealer.ts';
import { DID, didOfSeed } from './lying-service.ts';

/** Seed of the key that signs the releases. */
export const ISSUER = 7;

/** A version of a root of keys 21 and 22, signed by them and by these seeds. */
export function root(
  change: Partial<RootStatement>,
  signers: readonly number[] = [21, 22],
): RootStatement {
  const window = { valid_from: null, valid_until: null, revoked_from: null };
  const statement: RootStatement = {
    type: 'root',
    issuer: DID,
    version: 1,
    stated_at: '2026-11-20T12:00:00Z',
    threshold: 2,
    root_keys: [didOfSeed(21), didOfSeed(22)],
    issuer_keys: [{ did: DID, ...window }],
    receipt_keys: [],
    ...change,
    signatures: [],
  };
  const signatures = signers.map((seed) => {
    const secret = signingKey(new Uint8Array(32).fill(seed));
    return { did: didOfSeed(seed), signature: signBytes(rootBytes(statement), secret) };
  });
  return { ...statement, signatures };
}

/** The first version. */
export const FIRST = root({}, [21, 22, ISSUER]);

/** The list of keys under these versions. */
export const rooted = (...roots: RootStatement[]) => withRoots(firstHistory(DID), roots);
