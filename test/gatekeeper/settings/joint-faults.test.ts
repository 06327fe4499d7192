import { describe, expect, it } from 'vitest';
import type { Config } from '../../../gatekeeper/settings/config.ts';
import { type ConfigSources, loadConfig } from '../../../gatekeeper/settings/load-config.ts';
import { TEST_PAYEE } from '../../../gatekeeper/settings/settings.ts';
import { confirmationsMax, NETWORKS } from '../../../gatekeeper/settle/networks.ts';

const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const SETTLED = { FACILITATOR_URL: 'https://f.example', PAY_TO: PAYEE };
const NODE = { ...SETTLED, RPC_URL: 'https://node.example' };
/** Reads variables, each without the prefix of all. */
function load(env: ConfigSources['env']): Config {
  const named = Object.entries(env).map(([name, value]) => [`SIGNALPRESS_${name}`, value]);
  return loadConfig({ options: {}, env: Object.fromEntries(named), fileText: null });
}

describe('jointFaults()', () => {
  it.each([
    [{ NETWORK: 'base' }, /SIGNALPRESS_FACILITATOR_URL: missing/],
    [{ FACILITATOR_URL: 'https://f.example' }, /SIGNALPRESS_PAY_TO: missing/],
    [{ FACILITATOR_URL: 'https://f.example,https://g.example' }, /_RPC_URL: missing/],
    [{ RELAYER_KEY: 'file' }, /SIGNALPRESS_RPC_URL: missing.*PAY_TO: missing/s],
    [
      { RELAYER_KEY: 'file', FACILITATOR_URL: 'https://f.example' },
      /SIGNALPRESS_RELAYER_KEY: set together with SIGNALPRESS_FACILITATOR_URL; set only one/,
    ],
    [
      { RELAYER_KEY: 'file', WORKERS: '2' },
      /SIGNALPRESS_WORKERS: several processes cannot send from one account; leave it out/,
    ],
    [
      { FACILITATOR_AUTH: 'a: b', FACILITATOR_AUTH_MODULE: 'm.mjs' },
      /SIGNALPRESS_FACILITATOR_AUTH: set together with/,
    ],
    [
      { FACILITATOR_AUTH: 'a: b', FACILITATOR_URL: 'https://f.example,https://g.example' },
      /one secret cannot serve several/,
    ],
    [
      { METRICS: '0.0.0.0:9464' },
      /_METRICS "0\.0\.0\.0:9464": others can reach.*set 127\.0\.0\.1 .*or set SIGNALPRESS_METRICS_TOKEN/,
    ],
    [
      { METRICS: '127.0.0.1:4021' },
      /_METRICS "127\.0\.0\.1:4021": the address of the service; set another port/,
    ],
    [
      { METRICS: '127.0.0.1:4019', WORKERS: '3' },
      /_METRICS "127\.0\.0\.1:4019": the address of the service; set another port/,
    ],
    [
      { METRICS: '127.0.0.1:65535', WORKERS: '2' },
      /_METRICS "127\.0\.0\.1:65535": no port is left for each of 2 workers/,
    ],
    [
      { METRICS_TOKEN: 'x'.repeat(32), WORKERS: '2' },
      /_METRICS_TOKEN: .*another worker each time; set SIGNALPRESS_METRICS to an address/,
    ],
  ])('refuses %j and says what to set', (env, message) => {
    expect(() => load(env)).toThrow(message);
  });

  it.each([
    [{ PAY_TO: '0x12', FACILITATOR_URL: 'https://f.example' }],
    [{ PAY_TO: PAYEE, FACILITATOR_URL: 'f' }],
    [{ PAY_TO: PAYEE, RELAYER_KEY: 'k', RPC_URL: 'n' }],
    [{ WORKERS: '2', PORT: 'x' }],
    [{ ...NODE, NETWORK: 'mainnet', CONFIRMATIONS: '1000' }],
  ])('tells the problem of %j once', (env) => {
    expect(() => load(env)).toThrow(/^Cannot start: 1 setting to correct/);
  });

  it.each([
    ['dist-data', 'dist-data'],
    ['dist-data', './dist-data/'],
    ['dist-data', 'dist-data/state'],
    ['/srv/data', '/srv/data/../data/a/b'],
  ])('keeps the journal out of what belongs to the compiler: data %s, state %s', (data, state) => {
    expect(() => load({ DATA: data, STATE: state })).toThrow(
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
    const env = { DATA: data, STATE: state };
    expect(load(env)).toMatchObject({ dataDir: data, stateDir: state });
  });

  it('I9: refuses a depth that no buyer waits for, and takes the greatest that one does', () => {
    const max = confirmationsMax(NETWORKS['base-sepolia']);
    const depth = (blocks: number) => load({ ...NODE, CONFIRMATIONS: String(blocks) });
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
    [{ FACILITATOR_AUTH: 'a: b' }, '_FACILITATOR_AUTH: has no effect', '_FACILITATOR_URL'],
    [{ FACILITATOR_AUTH_MODULE: 'm.mjs' }, '_MODULE: has no effect', '_FACILITATOR_URL'],
    [
      { RPC_URL: 'https://n.example' },
      '_RPC_URL: has no effect',
      '_FACILITATOR_URL or SIGNALPRESS_RELAYER_KEY',
    ],
    [{ CONFIRMATIONS: '6' }, '_CONFIRMATIONS: has no effect', '_RPC_URL'],
    [{ MAX_FEE_GWEI: '2' }, '_MAX_FEE_GWEI: has no effect', '_RELAYER_KEY'],
  ])('I58: takes no half of what belongs together: %j', (env, says, needed) => {
    expect(() => load(env)).toThrow(`${says} without SIGNALPRESS${needed}; set `);
    const whole = {
      RPC_URL: 'https://n.example',
      PAY_TO: PAYEE,
      ...('MAX_FEE_GWEI' in env
        ? { RELAYER_KEY: 'file' }
        : { FACILITATOR_URL: 'https://f.example' }),
    };
    expect(load({ ...whole, ...env })).toMatchObject({ payTo: PAYEE });
  });

  const OPEN =
    /missing although .*sold for nothing; set it to an https URL, set SIGNALPRESS_RELAYER_KEY instead, or set SIGNALPRESS_TEST_PAYMENTS=1/;
  it.each([
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '192.168.1.4' },
    { HOST: 'api.example.com' },
    { BASE_URL: 'https://api.example.com' },
    { BASE_URL: 'http://192.168.1.4:4021' },
    { BASE_URL: 'http://127.0.0.1.example.com' },
    { BASE_URL: 'http://localhost.example.com' },
    { TRUSTED_PROXY: '127.0.0.1' },
  ])('I58: pretends no payment where others can buy, unless asked to: %j', (env) => {
    expect(() => load(env)).toThrow(OPEN);
    expect(() => load({ ...env, TEST_PAYMENTS: '0' })).toThrow(OPEN);
    expect(() => load({ ...env, PAY_TO: PAYEE })).toThrow(OPEN);
    expect(load({ ...env, TEST_PAYMENTS: '1' }).testPayments).toBe(true);
    expect(load({ ...env, ...SETTLED }).testPayments).toBe(false);
  });

  it.each([
    {},
    { HOST: 'localhost', BASE_URL: 'http://localhost:4021' },
    { HOST: '::1', BASE_URL: 'http://[::1]:4021' },
    { HOST: '127.0.0.2', BASE_URL: 'https://127.0.0.1/shop' },
  ])('I58: pretends payments on loopback: %j', (env) => {
    expect(load(env).facilitatorUrls).toEqual([]);
  });

  it('I58: names a misspelt facilitator instead of selling for nothing', () => {
    const env = { HOST: '0.0.0.0', PAY_TO: PAYEE, FACILITATR_URL: 'https://f.example' };
    expect(() => load(env)).toThrow(
      /2 settings.*sold for nothing.*did you mean SIGNALPRESS_FACILITATOR_URL\?/s,
    );
    expect(() => load({ ...env, NETWORK: 'base' })).toThrow(
      /2 settings.*missing for network "base".*did you mean SIGNALPRESS_FACILITATOR_URL\?/s,
    );
  });

  it('I58: pretends no payment beside somebody who settles', () => {
    expect(() => load({ ...SETTLED, TEST_PAYMENTS: '1' })).toThrow(
      /1 setting.*_TEST_PAYMENTS: set together with .*; leave it out/s,
    );
    expect(load({ ...SETTLED, TEST_PAYMENTS: '0' })).toMatchObject({ payTo: PAYEE });
  });

  it('does not start where what is paid would be lost', () => {
    const settled = { FACILITATOR_URL: 'https://f.example' };
    const lost = [`0x${'0'.repeat(40)}`, TEST_PAYEE, TEST_PAYEE.toLowerCase()];
    for (const payTo of [...lost, NETWORKS['base-sepolia'].asset]) {
      expect(() => load({ ...settled, PAY_TO: payTo })).toThrow(/nobody holds the key/);
      // Nothing moves without a settler.
      expect(load({ PAY_TO: payTo })).toMatchObject({ payTo });
    }
    expect(load({ ...settled, PAY_TO: PAYEE })).toMatchObject({ payTo: PAYEE });
  });

  it('does not start where money is real and nobody settles', () => {
    const env = { PAY_TO: PAYEE };
    expect(load(env)).toMatchObject({ payTo: PAYEE });
    expect(() => load({ ...env, NETWORK: 'base' })).toThrow(
      /1 setting.*FACILITATOR_URL: missing for network "base".*; set an https URL, or set SIGNALPRESS_RELAYER_KEY$/s,
    );
    const url = { FACILITATOR_URL: 'https://f.example' };
    expect(load({ ...env, ...url })).toMatchObject({ payTo: PAYEE });
  });
});
