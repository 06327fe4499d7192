import { historyPreviewSchema, rawSchema, sampleSchema } from './shapes/free-body-schemas.ts';
import { free, oneOf, optional, pair, TO_FIND, text } from './shapes/product.ts';
import { rawBody } from './shapes/record-views.ts';

export const SAMPLES = [
  free('/gauge/sample', {
    needed: TO_FIND,
    params: { signal_id: { ...optional(text('signal id', 'airquality.aqi')), shows: 'signals' } },
    file: 'free/sample/{signal_id}.json',
    summary: 'one whole record, free',
    guide:
      'Answers how a bought record looks, with a whole signed one. Not the entity of your choice.',
    body: sampleSchema,
  }),
  free('/gauge/history-preview', {
    needed: TO_FIND,
    params: pair,
    file: 'free/history-preview/{signal_id}/{entity}.json',
    summary: 'last seven snapshots',
    guide:
      'Answers how the last seven snapshots of a signal read at one entity. Not more than seven, and unsigned.',
    body: historyPreviewSchema,
  }),
  free('/gauge/raw', {
    params: {
      signal_id: oneOf('hydrology signal', ['hydrology.river-level', 'hydrology.streamflow']),
      entity: text('river gauge site id', '07010000'),
    },
    file: 'free/raw/{signal_id}/{entity}.json',
    summary: 'the bare record of a river gauge, without rulers',
    guide:
      'Answers what a river gauge reads now, free. Not its class, statistics or signature, and no other signals.',
    body: rawSchema,
    ofRecord: rawBody,
  }),
] as const;
