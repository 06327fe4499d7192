import { describe, expect, it } from 'vitest';
import { confirmationsMax } from '../../gatekeeper/chain/patience.ts';
import { type Config, type ConfigSources, loadConfig } from '../../gatekeeper/config.ts';
import { NETWORKS } from '../../gatekeeper/payment/networks.ts';
import { TEST_PAYEE } from '../../gatekeeper/settings.ts';

const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const load = (env: ConfigSources['env']): Config =>
  loadConfig({ options: {}, env, fileText: null });

describe('jointProblems()', () => {
  it.each([
    [{ SIGNALPRESS_NETWORK: 'base' }, /SIGNALPRESS_FACILITATOR_URL: missing/],
    [{ SIGNALPRESS_FACILITATOR_URL: 'https://f.example' }, /SIGNALPRESS_PAY_TO: missing/],
    [{ SIGNALPRESS_FACILITATOR_URL: 'https://f.example,https://g.example' }, /_RPC_URL: missing/],
    [{ SIGNALPRESS_RELAYER_KEY: 'file' }, /SIGNALPRESS_RPC_URL: missing.*PAY_TO: missing/s],
    [
      { SIGNALPRESS_RELAYER_KEY: 'file', SIGNALPRESS_FACILITATOR_URL: 'https://f.example' },
      /SIGNALPRESS_RELAYER_KEY: set beside/,
    ],
    [
      { SIGNALPRESS_FACILITATOR_AUTH: 'a: b', SIGNALPRESS_FACILITATOR_AUTH_MODULE: 'm.mjs' },
      /SIGNALPRESS_FACILITATOR_AUTH: set beside/,
    ],
    [
      {
        SIGNALPRESS_FACILITATOR_AUTH: 'a: b',
        SIGNALPRESS_FACILITATOR_URL: 'https://f.example,https://g.example',
      },
      /one secret for several/,
    ],
    [{ SIGNALPRESS_ASSET: PAYEE }, /SIGNALPRESS_ASSET .*not the USDC/],
  ])('refuses %j and says what to set', (env, message) => {
    expect(() => load(env)).toThrow(message);
  });

  it.each([
    [{ SIGNALPRESS_PAY_TO: '0x12', SIGNALPRESS_FACILITATOR_URL: 'https://f.example' }],
    [{ SIGNALPRESS_PAY_TO: PAYEE, SIGNALPRESS_FACILITATOR_URL: 'f' }],
    [{ SIGNALPRESS_PAY_TO: PAYEE, SIGNALPRESS_RELAYER_KEY: 'k', SIGNALPRESS_RPC_URL: 'n' }],
    [{ SIGNALPRESS_NETWORK: 'mainnet', SIGNALPRESS_ASSET: NETWORKS.base.asset }],
  ])('tells the problem of %j once', (env) => {
    expect(() => load(env)).toThrow(/^Cannot start: 1 setting to correct/);
  });

  it.each([
    ['dist-data', 'dist-data'],
    ['dist-data', './dist-data/'],
    ['dist-data', 'dist-data/state'],
    ['/srv/data', '/srv/data/../data/a/b'],
  ])('keeps the journal out of what belongs to the compiler: data %s, state %s', (data, state) => {
    expect(() => load({ SIGNALPRESS_DATA: data, SIGNALPRESS_STATE: state })).toThrow(
      /1 setting.*_STATE "[^"]+": inside of SIGNALPRESS_DATA "[^"]+".*; set a folder beside it$/s,
    );
  });

  it.each([
    ['dist-data', 'dist-data-state'],
    ['a/dist-data', 'a'],
    ['a/dist-data', 'a/..state'],
    ['/srv/data', '/srv/state'],
    ['a/dist-data', 'a/dist-data/../state'],
  ])('takes a folder beside the data: data %s, state %s', (data, state) => {
    const env = { SIGNALPRESS_DATA: data, SIGNALPRESS_STATE: state };
    expect(load(env)).toMatchObject({ dataDir: data, stateDir: state });
  });

  it('I9: refuses a depth that no buyer waits for, and takes the greatest that one does', () => {
    const max = confirmationsMax(NETWORKS['base-sepolia']);
    const depth = (blocks: number) => load({ SIGNALPRESS_CONFIRMATIONS: String(blocks) });
    expect(depth(6)).toMatchObject({ confirmations: 6 });
    expect(depth(max)).toMatchObject({ confirmations: max });
    for (const blocks of [max + 1, 100]) {
      expect(() => depth(blocks)).toThrow(
        new RegExp(
          `1 setting.*_CONFIRMATIONS "${blocks}": \\d+(\\.\\d+)? s on .*; set at most ${max}$`,
          's',
        ),
      );
    }
  });

  it('does not start where what is paid would be lost', () => {
    const settled = { SIGNALPRESS_FACILITATOR_URL: 'https://f.example' };
    const lost = [`0x${'0'.repeat(40)}`, TEST_PAYEE, TEST_PAYEE.toLowerCase()];
    for (const payTo of [...lost, NETWORKS['base-sepolia'].asset]) {
      expect(() => load({ ...settled, SIGNALPRESS_PAY_TO: payTo })).toThrow(/nobody has the key/);
      // Nothing moves without a settler.
      expect(load({ SIGNALPRESS_PAY_TO: payTo })).toMatchObject({ payTo });
    }
    expect(load({ ...settled, SIGNALPRESS_PAY_TO: PAYEE })).toMatchObject({ payTo: PAYEE });
  });

  it('does not start where money is real and nobody settles', () => {
    const env = { SIGNALPRESS_PAY_TO: PAYEE };
    expect(load(env)).toMatchObject({ payTo: PAYEE });
    expect(() => load({ ...env, SIGNALPRESS_NETWORK: 'base' })).toThrow(
      /1 setting.*FACILITATOR_URL: missing for network "base".*; set an https URL, or set SIGNALPRESS_RELAYER_KEY$/s,
    );
    const url = { SIGNALPRESS_FACILITATOR_URL: 'https://f.example' };
    expect(load({ ...env, ...url })).toMatchObject({ payTo: PAYEE });
  });
});
