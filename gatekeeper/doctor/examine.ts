import { defined } from '../../compiler/contract/defined.ts';
import { inTime } from '../system/in-time.ts';
import { addressCheck } from './address-check.ts';
import { chainCheck } from './chain-check.ts';
import type { Check, Examined } from './check.ts';
import { clockCheck } from './clock-check.ts';
import { diskCheck } from './disk-check.ts';
import { facilitatorCheck } from './facilitator-check.ts';
import { type Finding, failed, failure } from './finding.ts';
import { journalCheck } from './journal-check.ts';
import { payeeCheck } from './payee-check.ts';
import { releaseCheck } from './release-check.ts';
import { secretsCheck } from './secrets-check.ts';
import { settingsCheck } from './settings-check.ts';

/** All checks, in the order of the report. */
const CHECKS: readonly Check[] = [
  { name: 'settings', run: settingsCheck },
  { name: 'secrets', run: secretsCheck },
  { name: 'release', run: releaseCheck },
  { name: 'journal', run: journalCheck },
  { name: 'disk', run: diskCheck },
  { name: 'clock', run: clockCheck },
  { name: 'facilitator', run: facilitatorCheck },
  { name: 'chain', run: chainCheck },
  { name: 'payee', run: payeeCheck },
  { name: 'address', run: addressCheck },
];

/** No check may keep the operator waiting. */
const CHECK_TIMEOUT_MS = 60_000;

/** A finding with the check that made it. */
export interface Reported extends Finding {
  readonly check: string;
}

/** Runs all checks at once; never rejects. */
export async function examine(
  examined: Examined,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Reported[]> {
  const results = await Promise.all(checks.map(({ run }) => findingsOf(run, examined)));
  return checks.flatMap(({ name: check }, at) =>
    defined(results[at], 'the findings').map((finding) => ({ check, ...finding })),
  );
}

async function findingsOf(run: Check['run'], examined: Examined): Promise<readonly Finding[]> {
  try {
    const found = await inTime(run(examined), CHECK_TIMEOUT_MS);
    return found ?? [failed(`no result within ${CHECK_TIMEOUT_MS / 1000} s`, 'run doctor again')];
  } catch (error) {
    return [failure(error)];
  }
}
