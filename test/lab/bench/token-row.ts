/** One text that a model reads on its way to a record. */
export interface TokenRow {
  readonly name: string;
  readonly text: string;
  /** Most tokens that it may have; null where no figure is set. */
  readonly goal: number | null;
  /** The text that it may have only a share of. */
  readonly share?: { readonly of: string; readonly atMost: number };
}

/** Where the shop that is measured listens: `http://127.0.0.1:port`. */
export type ShopOrigin = string;
