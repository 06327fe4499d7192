import { messageOf } from '../system/message-of.ts';
import { type Finding, failed } from './finding.ts';

/** An error as a finding: behind the last semicolon of its message stands what to do. */
export function refusal(error: unknown): Finding {
  const text = messageOf(error);
  const cut = text.lastIndexOf('; ');
  if (cut === -1) return failed(text, 'see gatekeeper/SIGNS.md');
  return failed(text.slice(0, cut), text.slice(cut + 2));
}
