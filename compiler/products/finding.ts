import * as bodies from './shapes/free-body-schemas.ts';
import { free, oneOf, optional, TO_FIND, text } from './shapes/product.ts';

/** How a buyer finds what is sold. */
export const FINDING = [
  free('/gauge/coverage', {
    needed: TO_FIND,
    params: {
      industry: { ...optional(text('industry id', 'aviation')), shows: 'industries' },
      signal_id: { ...optional(text('signal id', 'nas.ground_ops')), shows: 'signals' },
      entity: { ...optional(text('entity', 'bos')), shows: 'entities' },
      summary: optional(oneOf('1 for compact counts', ['1'])),
      page: {
        type: 'integer',
        required: false,
        description: 'page, from 1; everything at once without it',
        examples: ['2'],
        min: 1,
      },
    },
    answer: 'coverage',
    summary: 'what is covered and how fresh it is',
    guide:
      'Answers which signals exist, how fresh each one is and what sells now; long lists come page by page. Not the readings.',
    body: bodies.coverageSchema,
  }),
  free('/gauge/catalog', {
    needed: TO_FIND,
    params: {
      signal_id: { ...optional(text('signal id', 'nas.ground_ops')), shows: 'signals' },
      industry: { ...optional(text('industry id', 'aviation')), shows: 'industries' },
      all: optional(oneOf('1 for everything at once', ['1'])),
      page: {
        type: 'integer',
        required: false,
        description: 'page of the full list, from 1',
        examples: ['2'],
        default: '1',
        min: 1,
      },
    },
    answer: 'catalog',
    summary: 'legal pairs of signal and entity',
    guide:
      'Answers which entities each signal has and which operations answer for them: the legal values. Not the readings.',
    body: bodies.catalogSchema,
  }),
  free('/gauge/search', {
    params: {
      q: {
        ...text(
          'words for a subject, a place, a company or an id; at most 200 characters are read',
          'US air quality index',
        ),
        shows: 'measures',
      },
      limit: {
        type: 'integer',
        required: false,
        description: 'results at most',
        examples: ['5'],
        default: '5',
        min: 1,
        max: 20,
      },
    },
    answer: 'search',
    summary: 'words to ids: what is sold about a subject or a place, with price and request',
    guide:
      'Answers what is sold about a subject, a place, a company or an id, in words of your own, with price and request. Not the readings themselves.',
    body: bodies.searchSchema,
  }),
  free('/gauge/preview', {
    needed: TO_FIND,
    answer: 'preview',
    summary: 'counts, prices and lists of ids',
    guide:
      'Answers how much is stored and what everything costs, with lists of ids. Not the readings.',
    body: bodies.previewSchema,
  }),
] as const;
