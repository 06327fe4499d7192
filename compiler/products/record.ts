import { ADD_ONS } from './add-ons.ts';
import { oneOf, optional, type Param, paid, pair, thinOrFact } from './shapes/product.ts';
import { recordSchema, thinRecordSchema } from './shapes/record.ts';
import { thinRecord } from './shapes/record-views.ts';

/** Leads to the add-ons, each at its own price. */
const dim: Param = {
  ...optional(
    oneOf('another product of the same reading, at its own price', [
      'gauge',
      ...ADD_ONS.map((addOn) => addOn.dim),
    ]),
  ),
  redirect: Object.fromEntries(ADD_ONS.map((addOn) => [addOn.dim, addOn.path])),
};

export const RECORD = paid('/gauge', {
  params: { ...pair, dim, format: thinOrFact },
  file: 'record/{signal_id}/{entity}.json',
  summary: 'one signal record',
  guide:
    'Answers what one signal reads at one entity now, with change, official class, seasonal place and signature. Not past values, and not several signals or entities at once.',
  kind: 'records',
  term: { word: 'latest' },
  body: recordSchema,
  ofRecord: (record) => record,
  forms: { thin: { body: thinRecordSchema, ofRecord: thinRecord } },
});
