import { free, oneOf, optional, paid, type TableParams, text } from './shapes/product.ts';
import * as resolve from './shapes/resolve-bodies.ts';

const settlement = (cutoffAliases: readonly string[]): TableParams => ({
  entity: { ...text('ticker or CIK', 'AAPL'), upperCase: true, aliases: ['issuer'] },
  form: { ...text('filing type', '10-K', '8-K', 'NT 10-K'), upperCase: true },
  cutoff: {
    ...text(
      'ISO 8601 date, a whole filing day in New York, or a date-time with Z or an offset',
      '2026-03-31',
      '2026-03-31T21:00:00Z',
    ),
    aliases: cutoffAliases,
  },
  event_class: optional(text('item of an 8-K, like 2.02; only with form=8-K', '2.02')),
  source_class: {
    ...optional(oneOf('source class; only the securities-filing source exists', ['sec'])),
    default: 'sec',
  },
  market_or_event: optional(text('any text but NUL; echoed back verbatim', 'any text')),
});

export const SETTLEMENT = [
  paid('/resolve', {
    beside: '/resolve/preview',
    params: settlement([]),
    answer: 'resolve',
    summary: 'filing evidence at a cutoff; describes the filing, never adjudicates the event',
    guide:
      'Answers whether a company had filed a form by a cutoff, with the filings as evidence. Not what the filing says, and never whether the event happened.',
    body: resolve.resolveBodySchema,
  }),
  paid('/resolve/proposer', {
    beside: '/resolve/preview',
    params: settlement(['as_of']),
    answer: 'resolve',
    summary: 'filing evidence in the shape of a proposer feed',
    guide:
      'Answers the same filing question as yes, no or unknown, in the shape of a proposer feed. Not a probability, and never the event itself.',
    body: resolve.proposerBodySchema,
  }),
] as const;

export const SETTLEMENT_PREVIEWS = [
  free('/resolve/preview', {
    file: 'free/preview/resolve.json',
    summary: 'which entities and forms resolve',
    guide:
      'Answers which companies and forms can be asked about, and by which rules, free. Not whether anything was filed.',
    body: resolve.resolvePreviewSchema,
  }),
  free('/resolve/proposer/preview', {
    file: 'free/preview/resolve-proposer.json',
    summary: 'which entities and forms the proposer feed holds',
    guide:
      'Answers which companies and forms the proposer feed knows, and its rules, free. Not whether anything was filed.',
    body: resolve.resolvePreviewSchema,
  }),
] as const;
