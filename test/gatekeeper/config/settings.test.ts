import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { envName, OPTION_NAMES, SETTING_NAMES } from '../../../gatekeeper/config/settings.ts';

/** Variables of the tables of SETTINGS.md; a short one takes the prefix of the one before. */
function documented(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../../gatekeeper/SETTINGS.md'), 'utf8');
  const cells = text.split('\n').flatMap((line) => /^\| (`[^|]*`) \|/.exec(line)?.[1] ?? []);
  const names = cells.flatMap((cell) => [...cell.matchAll(/`(?:SIGNALPRESS)?_([A-Z_]+)`/g)]);
  return names.map(([, name]) => `SIGNALPRESS_${name}`);
}

describe('SETTING_NAMES', () => {
  it('are exactly the rows of SETTINGS.md', () => {
    expect(documented().sort()).toEqual(SETTING_NAMES.map(envName).sort());
  });
});

describe('OPTION_NAMES', () => {
  it('I49: are all settings but the secrets, which process lists would show', () => {
    const secret = SETTING_NAMES.filter((name) => !OPTION_NAMES.includes(name));
    const secrets = [
      'data_auth',
      'facilitator_auth',
      'journal',
      'metrics_token',
      'offer_receipt_key',
      'relayer_key',
      'token_secret',
    ];
    expect(secret.sort()).toEqual(secrets);
  });
});
