import { z } from 'zod';
import { member } from '../format/members.ts';
import { type PercentileTable, type Product, paid, pair, thin } from './shapes/product.ts';
import {
  addOnHeadSchema,
  addOnTailSchema,
  type SignalRecord,
  standardRulerSchema,
  strataSchema,
  thinRecordSchema,
} from './shapes/record.ts';
import { addOnOf, thinRecord, WINDOW_DAYS } from './shapes/record-views.ts';

// Each add-on is one member between identity and provenance of its record. To sell another one, add it to `ADD_ONS` and give
// it a price in `catalog/builtin/prices.json`.

/** What follows for an add-on from its name, the schema of its member, and how a record is made into that. */
function addOn<const Dim extends string>(
  dim: Dim,
  member: z.ZodType,
  of: (record: SignalRecord, table: PercentileTable | null) => object | null,
) {
  return {
    dim,
    kind: 'add-ons',
    file: `${dim}/{signal_id}/{entity}.json`,
    term: { word: dim, isPart: true },
    body: z.strictObject({ ...addOnHeadSchema, [dim]: member, ...addOnTailSchema }),
    ofRecord: (record, { percentile_table }) => {
      const value = of(record, percentile_table);
      return value && addOnOf(record, dim, { [dim]: value });
    },
  } as const satisfies Partial<Product>;
}

const { normalized_index, pct_to_action } = standardRulerSchema.shape;
const CALIBRATED = 'figures that compare across stations';
const figures = { normalized_index, pct_to_action };

export const ADD_ONS = [
  paid('/gauge/ruler', {
    ...addOn(
      'ruler',
      standardRulerSchema.describe('place on the official scale'),
      ({ standard_ruler }) => standard_ruler,
    ),
    params: pair,
    needs: ['scale'],
    summary: 'official ruler: band, thresholds, distance to action',
    guide:
      'Answers which official class a reading is in and how far it is from the action threshold. Not the season, and nothing for a signal without an official scale.',
  }),
  paid('/gauge/calibrated', {
    ...addOn(
      'calibrated',
      z
        .strictObject({ ...figures, comparable: z.string().describe('what may be compared') })
        .describe(CALIBRATED),
      (record) => {
        const calibrated = calibratedFigures(record);
        const comparable =
          'the same index is the same official position at any station of this signal';
        return calibrated && { ...calibrated, comparable };
      },
    ),
    term: { word: 'calibrated', isPart: true, holdsLatest: true },
    params: { ...pair, format: thin },
    needs: ['scale'],
    summary: 'normalized index and share of the action threshold, comparable across stations',
    guide:
      'Answers how severe a reading is on an index that compares across stations. Not the thresholds themselves, and nothing for a signal without an official scale.',
    forms: {
      thin: {
        body: thinRecordSchema
          .omit({ entity_name: true })
          .extend({
            dim: z.literal('calibrated').describe('which product of the reading this is'),
            band: member.band,
            calibrated: z.strictObject(figures).describe(CALIBRATED),
          })
          .strict(),
        ofRecord: (record) => {
          const calibrated = calibratedFigures(record);
          if (calibrated === null) return null;
          const { nature, entity_name, record_hash, ...reading } = thinRecord(record);
          return { nature, dim: 'calibrated', ...reading, calibrated, record_hash };
        },
      },
    },
  }),
  paid('/gauge/strata', {
    ...addOn(
      'strata',
      strataSchema.describe('share of each official class in the season; null without them'),
      ({ strata }) => strata,
    ),
    params: pair,
    needs: ['scale', 'season'],
    summary: 'share of each official band over five same-season years',
    guide:
      'Answers how often each official class occurred at this time of year over five years. Not the single readings behind the shares.',
  }),
  paid('/gauge/history', {
    ...addOn('history', historySchema(), historyOf),
    term: { word: 'history' },
    params: pair,
    needs: ['season'],
    summary: 'seasonal placement: percentile, frequency and percentile table',
    guide:
      'Answers whether the latest reading is usual for the season, as a percentile of five years. Not the past readings themselves.',
  }),
] as const;

function calibratedFigures({ standard_ruler: ruler }: SignalRecord) {
  return ruler && { normalized_index: ruler.normalized_index, pct_to_action: ruler.pct_to_action };
}

function historySchema() {
  return z
    .strictObject({
      seasonal_percentile: z.number().meta({
        description: 'share of same-season readings below this one, 0 to 1',
        examples: [0.61],
      }),
      frequency: z.string().describe('how usual the reading is for the season, in words'),
      percentile_table: z
        .array(
          z.strictObject({
            percentile: z.int().describe('percentile, 0 to 100'),
            value: z.number().describe('value in the unit of the metric'),
          }),
        )
        .describe('value at each percentile of the season'),
      window_years: strataSchema.shape.window_years,
      n: strataSchema.shape.n,
      method: z.string().describe('how it was computed or is asked for'),
      source: z.string().describe('where it comes from'),
    })
    .describe('place of the latest reading in its season');
}

function historyOf(
  { stat_ruler, sources }: SignalRecord,
  percentile_table: PercentileTable | null,
) {
  if (stat_ruler === null || percentile_table === null) return null;
  const { current_percentile, frequency_label, window_years, n } = stat_ruler;
  return {
    seasonal_percentile: current_percentile,
    frequency: frequency_label,
    percentile_table,
    window_years,
    n,
    method: `share of same-season readings below, ties counted half; window of ${WINDOW_DAYS} days`,
    source: (sources ?? []).map((source) => source.name).join(', '),
  };
}
