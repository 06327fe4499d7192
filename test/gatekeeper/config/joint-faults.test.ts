import { describe, expect, it } from 'vitest';
import type { Config } from '../../../gatekeeper/config/config.ts';
import { type ConfigSources, loadConfig } from '../../../gatekeeper/config/load-config.ts';
import { TEST_PAYEE } from '../../../gatekeeper/config/settings.ts';
import { confirmationsMax, NETWORKS } from '../../../gatekeeper/money/networks.ts';

const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const NODE = {
  SIGNALPRESS_FACILITATOR_URL: 'https://f.example',
  SIGNALPRESS_RPC_URL: 'https://node.example',
  SIGNALPRESS_PAY_TO: PAYEE,
};
const load = (env: ConfigSources['env']): Config =>
  loadConfig({ options: {}, env, fileText: null });

describe('jointFaults()', () => {
  it.each([
    [{ SIGNALPRESS_NETWORK: 'base' }, /SIGNALPRESS_FACILITATOR_URL: missing/],
    [{ SIGNALPRESS_FACILITATOR_URL: 'https://f.example' }, /SIGNALPRESS_PAY_TO: missing/],
    [{ SIGNALPRESS_FACILITATOR_URL: 'https://f.example,https://g.example' }, /_RPC_URL: missing/],
    [{ SIGNALPRESS_RELAYER_KEY: 'file' }, /SIGNALPRESS_RPC_URL: missing.*PAY_TO: missing/s],
    [
      { SIGNALPRESS_RELAYER_KEY: 'file', SIGNALPRESS_FACILITATOR_URL: 'https://f.example' },
      /SIGNALPRESS_RELAYER_KEY: set together with SIGNALPRESS_FACILITATOR_URL; set only one/,
    ],
    [
      { SIGNALPRESS_RELAYER_KEY: 'file', SIGNALPRESS_WORKERS: '2' },
      /SIGNALPRESS_WORKERS: several processes cannot send from one account; leave it out/,
    ],
    [
      { SIGNALPRESS_FACILITATOR_AUTH: 'a: b', SIGNALPRESS_FACILITATOR_AUTH_MODULE: 'm.mjs' },
      /SIGNALPRESS_FACILITATOR_AUTH: set together with/,
    ],
    [
      {
        SIGNALPRESS_FACILITATOR_AUTH: 'a: b',
        SIGNALPRESS_FACILITATOR_URL: 'https://f.example,https://g.example',
      },
      /one secret cannot serve several/,
    ],
    [
      { SIGNALPRESS_METRICS: '0.0.0.0:9464' },
      /_METRICS "0\.0\.0\.0:9464": others can reach.*set 127\.0\.0\.1 .*or set SIGNALPRESS_METRICS_TOKEN/,
    ],
    [
      { SIGNALPRESS_METRICS: '127.0.0.1:4021' },
      /_METRICS "127\.0\.0\.1:4021": the address of the service; set another port/,
    ],
    [
      { SIGNALPRESS_METRICS: '127.0.0.1:4019', SIGNALPRESS_WORKERS: '3' },
      /_METRICS "127\.0\.0\.1:4019": the address of the service; set another port/,
    ],
    [
      { SIGNALPRESS_METRICS: '127.0.0.1:65535', SIGNALPRESS_WORKERS: '2' },
      /_METRICS "127\.0\.0\.1:65535": no port is left for each of 2 workers/,
    ],
    [
      { SIGNALPRESS_METRICS_TOKEN: 'x'.repeat(32), SIGNALPRESS_WORKERS: '2' },
      /_METRICS_TOKEN: .*another worker each time; set SIGNALPRESS_METRICS to an address/,
    ],
  ])('refuses %j and says what to set', (env, message) => {
    expect(() => load(env)).toThrow(message);
  });

  it.each([
    [{ SIGNALPRESS_PAY_TO: '0x12', SIGNALPRESS_FACILITATOR_URL: 'https://f.example' }],
    [{ SIGNALPRESS_PAY_TO: PAYEE, SIGNALPRESS_FACILITATOR_URL: 'f' }],
    [{ SIGNALPRESS_PAY_TO: PAYEE, SIGNALPRESS_RELAYER_KEY: 'k', SIGNALPRESS_RPC_URL: 'n' }],
    [{ SIGNALPRESS_WORKERS: '2', SIGNALPRESS_PORT: 'x' }],
    [{ ...NODE, SIGNALPRESS_NETWORK: 'mainnet', SIGNALPRESS_CONFIRMATIONS: '1000' }],
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
      /1 setting.*_STATE "[^"]+": inside SIGNALPRESS_DATA "[^"]+".*; set a folder beside it$/s,
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
    const depth = (blocks: number) => load({ ...NODE, SIGNALPRESS_CONFIRMATIONS: String(blocks) });
    expect(depth(6)).toMatchObject({ confirmations: 6 });
    expect(depth(max)).toMatchObject({ confirmations: max });
    for (const blocks of [max + 1, 100]) {
      expect(() => depth(blocks)).toThrow(
        new RegExp(
          `1 setting.*_CONFIRMATIONS "${blocks}": takes \\d+(\\.\\d+)? s on .*; set at most ${max}$`,
          's',
        ),
      );
    }
  });

  it.each([
    [
      { SIGNALPRESS_FACILITATOR_AUTH: 'a: b' },
      '_FACILITATOR_AUTH: has no effect',
      '_FACILITATOR_URL',
    ],
    [
      { SIGNALPRESS_FACILITATOR_AUTH_MODULE: 'm.mjs' },
      '_MODULE: has no effect',
      '_FACILITATOR_URL',
    ],
    [
      { SIGNALPRESS_RPC_URL: 'https://n.example' },
      '_RPC_URL: has no effect',
      '_FACILITATOR_URL or SIGNALPRESS_RELAYER_KEY',
    ],
    [{ SIGNALPRESS_CONFIRMATIONS: '6' }, '_CONFIRMATIONS: has no effect', '_RPC_URL'],
    [{ SIGNALPRESS_MAX_FEE_GWEI: '2' }, '_MAX_FEE_GWEI: has no effect', '_RELAYER_KEY'],
  ])('I58: takes no half of what belongs together: %j', (env, says, needed) => {
    expect(() => load(env)).toThrow(`${says} without SIGNALPRESS${needed}; set `);
    const whole = {
      SIGNALPRESS_RPC_URL: 'https://n.example',
      SIGNALPRESS_PAY_TO: PAYEE,
      ...('SIGNALPRESS_MAX_FEE_GWEI' in env
        ? { SIGNALPRESS_RELAYER_KEY: 'file' }
        : { SIGNALPRESS_FACILITATOR_URL: 'https://f.example' }),
    };
    expect(load({ ...whole, ...env })).toMatchObject({ payTo: PAYEE });
  });

  const OPEN =
    /missing although .*sold for nothing; set it to an https URL, set SIGNALPRESS_RELAYER_KEY instead, or set SIGNALPRESS_TEST_PAYMENTS=1/;
  it.each([
    { SIGNALPRESS_HOST: '0.0.0.0' },
    { SIGNALPRESS_HOST: '::' },
    { SIGNALPRESS_HOST: '192.168.1.4' },
    { SIGNALPRESS_HOST: 'api.example.com' },
    { SIGNALPRESS_BASE_URL: 'https://api.example.com' },
    { SIGNALPRESS_BASE_URL: 'http://192.168.1.4:4021' },
    { SIGNALPRESS_BASE_URL: 'http://127.0.0.1.example.com' },
    { SIGNALPRESS_BASE_URL: 'http://localhost.example.com' },
    { SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1' },
  ])('I58: pretends no payment where others can buy, unless asked to: %j', (env) => {
    expect(() => load(env)).toThrow(OPEN);
    expect(() => load({ ...env, SIGNALPRESS_TEST_PAYMENTS: '0' })).toThrow(OPEN);
    expect(() => load({ ...env, SIGNALPRESS_PAY_TO: PAYEE })).toThrow(OPEN);
    expect(load({ ...env, SIGNALPRESS_TEST_PAYMENTS: '1' }).testPayments).toBe(true);
    const paid = { SIGNALPRESS_FACILITATOR_URL: 'https://f.example', SIGNALPRESS_PAY_TO: PAYEE };
    expect(load({ ...env, ...paid }).testPayments).toBe(false);
  });

  it.each([
    {},
    { SIGNALPRESS_HOST: 'localhost', SIGNALPRESS_BASE_URL: 'http://localhost:4021' },
    { SIGNALPRESS_HOST: '::1', SIGNALPRESS_BASE_URL: 'http://[::1]:4021' },
    { SIGNALPRESS_HOST: '127.0.0.2', SIGNALPRESS_BASE_URL: 'https://127.0.0.1/shop' },
  ])('I58: pretends payments on loopback: %j', (env) => {
    expect(load(env).facilitatorUrls).toEqual([]);
  });

  it('I58: names a misspelt facilitator instead of selling for nothing', () => {
    const env = {
      SIGNALPRESS_HOST: '0.0.0.0',
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_FACILITATR_URL: 'https://f.example',
    };
    expect(() => load(env)).toThrow(
      /2 settings.*sold for nothing.*did you mean SIGNALPRESS_FACILITATOR_URL\?/s,
    );
    expect(() => load({ ...env, SIGNALPRESS_NETWORK: 'base' })).toThrow(
      /2 settings.*missing for network "base".*did you mean SIGNALPRESS_FACILITATOR_URL\?/s,
    );
  });

  it('I58: pretends no payment beside somebody who settles', () => {
    const paid = { SIGNALPRESS_FACILITATOR_URL: 'https://f.example', SIGNALPRESS_PAY_TO: PAYEE };
    const both = { ...paid, SIGNALPRESS_TEST_PAYMENTS: '1' };
    expect(() => load(both)).toThrow(
      /1 setting.*_TEST_PAYMENTS: set together with .*; leave it out/s,
    );
    expect(load({ ...paid, SIGNALPRESS_TEST_PAYMENTS: '0' })).toMatchObject({ payTo: PAYEE });
  });

  it('does not start where what is paid would be lost', () => {
    const settled = { SIGNALPRESS_FACILITATOR_URL: 'https://f.example' };
    const lost = [`0x${'0'.repeat(40)}`, TEST_PAYEE, TEST_PAYEE.toLowerCase()];
    for (const payTo of [...lost, NETWORKS['base-sepolia'].asset]) {
      expect(() => load({ ...settled, SIGNALPRESS_PAY_TO: payTo })).toThrow(/nobody holds the key/);
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
