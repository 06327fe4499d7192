/** What the tests use of packages that bring no types. */
declare module '@digitalbazaar/credentials-context' {
  export const contexts: ReadonlyMap<string, object>;
}
declare module '@digitalbazaar/data-integrity' {
  export class DataIntegrityProof {
    constructor(options: { readonly cryptosuite: object });
  }
}
declare module '@digitalbazaar/eddsa-jcs-2022-cryptosuite' {
  export function createVerifyCryptosuite(): object;
}
declare module 'jsonld' {
  const jsonld: {
    expand(document: object, options: object): Promise<readonly Record<string, unknown>[]>;
  };
  export default jsonld;
}
declare module 'jsonld-signatures' {
  const signatures: {
    readonly purposes: { readonly AssertionProofPurpose: new () => object };
    verify(
      document: object,
      options: {
        readonly suite: object;
        readonly purpose: object;
        readonly documentLoader: (url: string) => Promise<object>;
      },
    ): Promise<{
      readonly verified: boolean;
      readonly error?: { readonly errors: readonly Error[] };
    }>;
  };
  export default signatures;
}
