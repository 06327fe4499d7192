import { censusBodySchema } from '../contract/record.ts';
import { paid, signalId } from './product.ts';

export const CENSUS = paid('/gauge/census', {
  tag: '[BATCH+PROOF]',
  params: { signal_id: signalId },
  file: 'census/{signal_id}.json',
  term: { word: 'census', holdsLatest: true },
  summary: 'all entities of one signal at their latest reading',
  guide:
    'Answers what one signal reads at all its entities, to rank or map them. Not for one entity, which costs less, and without trends.',
  body: censusBodySchema,
});
