interface CommonRequirements {
  readonly scheme: 'exact';
  readonly network: string;
  readonly payTo: string;
  readonly asset: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}
/** One `accepts[]` entry of x402 v1. */
export interface RequirementsV1 extends CommonRequirements {
  readonly maxAmountRequired: string;
  readonly resource: string;
  readonly description: string;
  readonly mimeType: string;
  readonly outputSchema: object;
}
/** One `accepts[]` entry of x402 v2. */
export interface RequirementsV2 extends CommonRequirements {
  readonly amount: string;
}
export type Requirements = RequirementsV1 | RequirementsV2;

/** What v2 says about a sale besides its terms; facilitators' catalogues use it to list sellers. */
export interface Listing {
  readonly resource: {
    readonly url: string;
    readonly description: string;
    readonly mimeType: string;
    readonly serviceName: string;
  };
  readonly extensions?: object;
}

/** Price in atomic units, under the name of either version. */
export function priceOf(requirements: Requirements): string {
  return 'amount' in requirements ? requirements.amount : requirements.maxAmountRequired;
}
