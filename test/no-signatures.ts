import type { SignatureStore } from '../compiler/stages/seal/signature-store.ts';

/** A store that remembers nothing, for tests of what is signed. */
export const NO_SIGNATURES: SignatureStore = { get: () => undefined, put: () => undefined };
