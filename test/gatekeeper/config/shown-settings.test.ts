import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../gatekeeper/config/load-config.ts';
import { SECRET, SETTING_NAMES } from '../../../gatekeeper/config/settings.ts';
import { shownSettings } from '../../../gatekeeper/config/shown-settings.ts';

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
    data: `https://d.example/${CANARY}`,
    data_auth: `Authorization: ${CANARY}`,
    issuer_did: `did:key:z6Mk${'a'.repeat(44)}`,
    journal: `postgres://shop:${CANARY}@db.example:5433/shop?application_name=${CANARY}`,
    metrics: '127.0.0.1:9464',
    metrics_token: CANARY,
  });

  it('I49: shows of a secret only that it is set', () => {
    expect(JSON.stringify(shown)).not.toContain('canary');
    expect(shown).toMatchObject({
      facilitator_url: ['https://f.example'],
      facilitator_auth: 'set',
      rpc_url: 'https://n.example',
      journal: 'postgres://db.example:5433/shop',
      token_secret: 'set',
      data: 'https://d.example',
      data_auth: 'set',
      metrics_token: 'set',
      relayer_key: null,
    });
    const relayed = load({ pay_to: PAYEE, relayer_key: CANARY, rpc_url: 'https://n.example' });
    expect(relayed.relayer_key).toBe('set');
    expect(JSON.stringify(relayed)).not.toContain('canary');
  });

  it('shows everything else as it is', () => {
    expect(shown).toMatchObject({ pay_to: PAYEE, port: 4021, metrics: '127.0.0.1:9464' });
    expect(load({})).toMatchObject({ token_secret: null, metrics: null, log_requests: 'all' });
    expect(load({})).toMatchObject({ journal: 'sqlite' });
  });

  it('leaves out only what another one shows: the contract, and that the data may come over http', () => {
    const missing = SETTING_NAMES.filter((name) => !Object.hasOwn(shown, name));
    expect(missing.sort()).toEqual(['asset', 'data_http']);
    expect(SECRET.filter((name) => !Object.hasOwn(shown, name))).toEqual([]);
  });
});
