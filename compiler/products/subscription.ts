import { optional, paid, type TableParam, text, tokenGated } from './shapes/product.ts';
import * as watch from './shapes/watch-bodies.ts';

const items: TableParam = {
  ...text('comma-separated industry:entity pairs, at most 30', 'environment:us-denver'),
  shows: 'items',
};
const token = optional(text('subscription token, in place of Authorization: Bearer', '<token>'));

export const SUBSCRIPTION = [
  paid('/gauge/subscribe', {
    answer: 'mint',
    summary: 'subscription token for the watchlist endpoints',
    guide:
      'Sells a token that opens the watchlist operations for its days. Not needed for any other operation, and not renewed by itself.',
    body: watch.subscriptionSchema,
  }),
  tokenGated('/gauge/watch', {
    beside: '/gauge/subscribe',
    params: { items, token },
    answer: 'watch',
    summary: 'latest readings of a watchlist',
    guide:
      'Answers what up to 30 subjects of a watchlist read now, without a payment for each. Not their change, class scales or signatures.',
    body: watch.watchSchema,
  }),
  tokenGated('/gauge/watch-changes', {
    beside: '/gauge/subscribe',
    params: {
      items,
      since: optional(
        text(
          'ISO date or date-time with Z or an offset, or unix seconds; default 24 hours ago',
          '2026-11-20',
        ),
      ),
      token,
    },
    answer: 'watch',
    summary: 'readings of a watchlist newer than a time',
    guide:
      'Answers what of a watchlist was observed after a time, to poll for news. Not what stayed the same.',
    body: watch.watchChangesSchema,
  }),
  tokenGated('/gauge/manifest-sweep', {
    beside: '/gauge/subscribe',
    params: {
      page: {
        type: 'integer',
        required: false,
        description: 'page of the full list, from 1',
        examples: ['2'],
        default: '1',
        min: 1,
      },
      token,
    },
    answer: 'watch',
    summary: 'every signal and entity with its latest time and hash',
    guide: 'Answers which readings moved, as time and hash of every latest one. Not the values.',
    body: watch.sweepSchema,
  }),
] as const;
