import { lifecycleBodySchema } from '../contract/free-body-schemas.ts';
import { paid, text } from './product.ts';

export const LIFECYCLE = paid('/gauge/lifecycle', {
  params: { entity: text('life-cycle subject', 'kyoto-protocol') },
  file: 'lifecycle/{entity}.json',
  summary: 'official life-cycle state of one subject',
  guide:
    'Answers which official life-cycle state a subject is in and since when. Not why, and not for places that are measured.',
  body: lifecycleBodySchema,
});
