import { type LogPolicy, POLICY_BYTES_MAX } from '../contract/log-policy.ts';
import { readNamed } from '../verify/disk.ts';
import { readPolicy } from '../verify/policy-check.ts';
import { errorText } from './error-text.ts';

/** The policy in a file; throws a RangeError that names the file and what is wrong in it. */
export function policyFile(path: string, option = '--policy'): LogPolicy {
  try {
    return readPolicy(readNamed(path, POLICY_BYTES_MAX));
  } catch (cause) {
    throw new RangeError(`Cannot use "${path}" of ${option}: ${errorText(cause)}`, { cause });
  }
}
