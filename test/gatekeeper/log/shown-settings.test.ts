import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../gatekeeper/config.ts';
import { shownSettings } from '../../../gatekeeper/log/shown-settings.ts';
import { SECRET, SETTING_NAMES } from '../../../gatekeeper/settings.ts';

const CANARY = 'canary-0123456789-0123456789-0123456789';
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const CANARY_URL = `https://f.example/${CANARY}`;

const load = (options: Record<string, string>) =>
  shownSettings(loadConfig({ options, env: {}, fileText: null }));

describe('shownSettings()', () => {
  const shown = load({
    pay_to: PAYEE,
    facilitator_url: CANARY_URL,
    facilitator_auth: `Authorization: ${CANARY}`,
    rpc_url: `https://n.example/${CANARY}`,
    token_secret: CANARY,
    journal: `postgres://shop:${CANARY}@db.example:5433/shop?sslmode=verify-full`,
  });

  it('I49: shows of a secret only that it is set', () => {
    expect(JSON.stringify(shown)).not.toContain('canary');
    expect(shown).toMatchObject({
      facilitator_url: ['https://f.example'],
      facilitator_auth: 'set',
      rpc_url: 'https://n.example',
      journal: 'postgres://db.example:5433/shop',
      token_secret: 'set',
      relayer_key: null,
    });
    const relayed = load({ pay_to: PAYEE, relayer_key: CANARY, rpc_url: 'https://n.example' });
    expect(relayed.relayer_key).toBe('set');
    expect(JSON.stringify(relayed)).not.toContain('canary');
  });

  it('shows everything else as it is', () => {
    expect(shown).toMatchObject({ pay_to: PAYEE, port: 4021 });
    expect(load({})).toMatchObject({
      token_secret: null,
      log_requests: 'all',
      journal: 'sqlite',
    });
  });

  it('leaves no setting out but the contract, which the network names', () => {
    const missing = SETTING_NAMES.filter((name) => !Object.hasOwn(shown, name));
    expect(missing).toEqual(['asset']);
    expect(SECRET.filter((name) => !Object.hasOwn(shown, name))).toEqual([]);
  });
});
