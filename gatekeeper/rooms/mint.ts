import { type Answered, MISS, type Service } from '../answers/service.ts';
import { jsonContent } from './json-content.ts';

/**
 * `/gauge/subscribe`: a token made before the settlement and handed out only after it. The journal keeps the exact
 * bytes, so a payment that is sent again gets the same token with the same end. Computed, because each buyer gets a token
 * of its own.
 */
export function mint({ operator }: Service): Promise<Answered> {
  const { tokens } = operator;
  return Promise.resolve(tokens === null ? MISS : jsonContent(tokens.mint(), 0));
}
