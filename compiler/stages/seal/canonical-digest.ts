import { hash } from 'node:crypto';
import { jcs } from './jcs.ts';

/** `sha256:<hex>` of the RFC 8785 text of a JSON value. */
export function canonicalDigest(value: unknown): string {
  return `sha256:${hash('sha256', jcs(value), 'hex')}`;
}
