import { TABLE } from './products.ts';
import type { Values } from './shapes/path.ts';
import type { Product, RecordMaker } from './shapes/product.ts';

/** A product, or another form of it, that one record is made into. */
export interface RecordView {
  readonly product: Product;
  /** Folder of another form than the usual one, or ''. */
  readonly form: string;
  /** Values that ask for the form, and the same in the middle of a query. */
  readonly values: Values;
  readonly more: string;
  readonly ofRecord: RecordMaker;
}

/** What compile makes of every record, and what `verify` makes again of it. */
export const RECORD_VIEWS: readonly RecordView[] = TABLE.flatMap((product: Product) => {
  const { ofRecord, forms = {}, params } = product;
  if (ofRecord === undefined) return [];
  const others = Object.entries(params).flatMap(([name, { variant = {} }]) =>
    Object.entries(variant).flatMap(([value, form]): RecordView[] => {
      const made = forms[form]?.ofRecord;
      const asked = { values: { [name]: value }, more: `&${name}=${value}` };
      return made === undefined ? [] : [{ product, form, ...asked, ofRecord: made }];
    }),
  );
  return [{ product, form: '', values: {}, more: '', ofRecord }, ...others];
});
