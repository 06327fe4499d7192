import { basketSchema } from './shapes/basket.ts';
import { free } from './shapes/product.ts';

export const BASKET = free('/gauge/basket', {
  tag: '[BATCH+PROOF]',
  method: 'POST',
  answer: 'basket',
  summary: 'up to 30 requests as one payment, for the sum of their prices; the quote is free',
  guide:
    'Answers up to 30 paid requests for one payment, each with its own signature; asked without a payment it tells the sum and what cannot be sold. Not for what is free, for tokens or for tables.',
  body: basketSchema,
});
