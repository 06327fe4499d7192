import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shownSettings } from '../../../gatekeeper/settings/config.ts';
import {
  type ConfigSources,
  commandLine,
  FLAGS,
  loadConfig,
  loadJournalPlace,
  settingsHelp,
  unknownVariables,
} from '../../../gatekeeper/settings/load-config.ts';
import {
  envName,
  metricsOfWorker,
  metricsSettings,
  OPTION_NAMES,
  SECRET,
  SETTING_NAMES,
  settingRows,
  TEST_PAYEE,
} from '../../../gatekeeper/settings/settings.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import { StartError } from '../../../gatekeeper/wire/start-error.ts';

const RATE_LIMIT = 500;
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const SECRET_TOKEN = 's'.repeat(32);
const load = (sources: Partial<ConfigSources> = {}): ReturnType<typeof loadConfig> =>
  loadConfig({ options: {}, env: {}, fileText: null, ...sources });
/** Reads variables, each without the prefix of all. */
const loadEnv = (env: object): ReturnType<typeof loadConfig> =>
  load({
    env: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [`SIGNALPRESS_${name}`, value]),
    ),
  });

describe('loadConfig()', () => {
  it('starts with nothing set: loopback, test network, simulated payments', () => {
    expect(load()).toEqual({
      host: '127.0.0.1',
      port: 4021,
      baseUrl: null,
      payTo: TEST_PAYEE,
      network: NETWORKS['base-sepolia'],
      furtherNetworks: [],
      tokens: [],
      facilitatorUrls: [],
      facilitatorAuth: null,
      facilitatorAuthModule: null,
      rpcUrl: null,
      confirmations: 1,
      relayerKey: null,
      maxFeeGwei: '2',
      testPayments: false,
      dataDir: 'dist-data',
      dataAuth: null,
      cacheDir: '.signalpress/cache',
      cacheMb: 1024,
      stateDir: '.signalpress',
      journal: 'sqlite',
      tokenSecret: null,
      tokenDays: 30,
      receiptKey: null,
      issuerDid: null,
      rateLimit: RATE_LIMIT,
      workers: 1,
      drainSeconds: 0,
      trustedProxy: '',
      verifyFirst: false,
      logRequests: 'all',
      offerReceiptKey: null,
      metrics: null,
    });
  });

  it('takes several networks, each with its node and its price of gas', () => {
    const env = {
      SIGNALPRESS_NETWORK: 'base, polygon',
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_RELAYER_KEY: '11'.repeat(32),
      SIGNALPRESS_RPC_URL:
        'polygon=https://p.example/?key=a,b=c,base=https://b.example/?list=a%2Cword=1',
    };
    expect(load({ env })).toMatchObject({
      network: NETWORKS.base,
      rpcUrl: 'https://b.example/?list=a%2Cword=1',
      maxFeeGwei: '2',
      furtherNetworks: [
        {
          network: NETWORKS.polygon,
          rpcUrl: 'https://p.example/?key=a,b=c',
          maxFeeGwei: '500',
          confirmations: 1,
        },
      ],
    });
    const fees = { ...env, SIGNALPRESS_MAX_FEE_GWEI: 'base=0.5,polygon=80' };
    expect(load({ env: fees })).toMatchObject({
      maxFeeGwei: '0.5',
      furtherNetworks: [{ maxFeeGwei: '80' }],
    });
  });

  it.each([
    [{ NETWORK: 'base,base' }, /_NETWORK "base,base": names a network twice/],
    [{ NETWORK: 'base,eip155:8453' }, /_NETWORK .*: names a network twice/],
    [{ NETWORK: 'base,ethereum' }, /_NETWORK "base,ethereum": not a known network/],
    [
      { NETWORK: 'base,base-sepolia' },
      /"base-sepolia" is worth nothing and would buy what "base" /,
    ],
    [{ RPC_URL: 'https://b.example' }, /_RPC_URL: does not say for which network; set base=https/],
    [{ RPC_URL: 'base=https://b.example' }, /_RPC_URL: says nothing for "polygon"/],
    [
      { RPC_URL: 'base=https://b.example,polygon=https://p.example,sei=https://s.example' },
      /_RPC_URL: names "sei", which SIGNALPRESS_NETWORK does not/,
    ],
    ...['1', 'https://c.example'].map((value): [object, RegExp] => [
      { RPC_URL: `base=https://b.example/?list=a,word=${value},polygon=https://p.example` },
      /_RPC_URL: "word" is not a known network; if it is part of a URL, write the comma before "word=" as %2C; set/,
    ]),
    [
      { RPC_URL: 'base=https://b.example,base=https://c.example,polygon=https://p.example' },
      /_RPC_URL: names a network twice/,
    ],
    [
      { RPC_URL: 'base=https://b.example,polygon=http://p.example' },
      /_RPC_URL: Cannot use chain node "http:\/\/p.example": not https/,
    ],
    [{ MAX_FEE_GWEI: '2' }, /_MAX_FEE_GWEI: does not say for which network; set base=2,polygon=2/],
    [{ CONFIRMATIONS: '18', NETWORK: 'base,polygon' }, /takes .* s on base, .*; set at most 17$/],
  ])('refuses %j for two networks, and says why', (wrong, message) => {
    const right = {
      NETWORK: 'base,polygon',
      PAY_TO: PAYEE,
      RELAYER_KEY: '11'.repeat(32),
      RPC_URL: 'base=https://b.example,polygon=https://p.example',
    };
    expect(() => loadEnv(right)).not.toThrow();
    expect(() => loadEnv({ ...right, ...wrong })).toThrow(message);
  });

  it('takes an option before the environment before the file', () => {
    const fileText = JSON.stringify({ port: 1, host: 'file', data: 'file', issuer_name: 'X' });
    const env = { SIGNALPRESS_PORT: '2', SIGNALPRESS_HOST: 'env', SIGNALPRESS_STATE: '' };
    const options = { port: '3', test_payments: '1' };
    expect(load({ options, env, fileText })).toMatchObject({
      port: 3,
      host: 'env',
      dataDir: 'file',
      stateDir: '.signalpress',
    });
  });

  it('takes an empty text for none, wherever it stands, and looks further', () => {
    const fileText = JSON.stringify({ port: 1, rate_limit: 5, network: '' });
    const env = { SIGNALPRESS_PORT: '', SIGNALPRESS_RATE_LIMIT: '', SIGNALPRESS_HOST: '::1' };
    expect(load({ options: { host: '' }, env, fileText })).toMatchObject({
      port: 1,
      rateLimit: 5,
      host: '::1',
      network: NETWORKS['base-sepolia'],
      furtherNetworks: [],
    });
    expect(load({ env, fileText: '{"port":0}' })).toMatchObject({ port: 0, rateLimit: RATE_LIMIT });
  });

  it('takes a journal that several gatekeepers share, and I49: repeats nothing of a wrong one', () => {
    const url = 'postgres://shop:hunter2@db.example/shop?sslmode=verify-full';
    expect(load({ env: { SIGNALPRESS_JOURNAL: url } })).toMatchObject({ journal: url });
    expect(load({ env: { SIGNALPRESS_JOURNAL: 'sqlite' } })).toMatchObject({ journal: 'sqlite' });
    for (const wrong of ['postgres://shop:hunter2@db.example', 'postgres://shop:hunter2@:x/y']) {
      const refused = () => load({ env: { SIGNALPRESS_JOURNAL: wrong } });
      expect(refused).toThrow(/_JOURNAL: n/);
      expect(refused).not.toThrow(/hunter2|db\.example/);
    }
  });

  it('takes a real operator', () => {
    const env = {
      SIGNALPRESS_BASE_URL: 'https://api.example.com',
      SIGNALPRESS_PAY_TO: PAYEE,
      SIGNALPRESS_NETWORK: 'base',
      SIGNALPRESS_FACILITATOR_URL: 'https://facilitator.example',
      SIGNALPRESS_RPC_URL: 'https://node.example/key',
      SIGNALPRESS_TOKEN_SECRET: 's'.repeat(32),
      SIGNALPRESS_RATE_LIMIT: '50',
    };
    expect(load({ env })).toMatchObject({ payTo: PAYEE, network: NETWORKS.base, rateLimit: 50 });
  });

  it('takes how much is logged', () => {
    const env = { SIGNALPRESS_LOG_REQUESTS: 'errors' };
    expect(load({ env })).toMatchObject({ logRequests: 'errors' });
  });

  it.each([
    ['127.0.0.1:9464', null, { address: { host: '127.0.0.1', port: 9464 }, token: null }],
    ['localhost:0', null, { address: { host: 'localhost', port: 0 }, token: null }],
    ['[::1]:9464', null, { address: { host: '::1', port: 9464 }, token: null }],
    ['0.0.0.0:9464', SECRET_TOKEN, { address: { host: '0.0.0.0' }, token: SECRET_TOKEN }],
    ['', SECRET_TOKEN, { address: null, token: SECRET_TOKEN }],
  ])('takes metrics at "%s"', (address, token, metrics) => {
    const env = { SIGNALPRESS_METRICS: address, SIGNALPRESS_METRICS_TOKEN: token ?? '' };
    expect(load({ env })).toMatchObject({ metrics });
  });

  it('takes facilitators in order of preference, or a relayer on any network', () => {
    const pay = { SIGNALPRESS_PAY_TO: PAYEE, SIGNALPRESS_RPC_URL: 'https://node.example' };
    const list = 'https://a.example/x402, http://127.0.0.1:1';
    expect(load({ env: { ...pay, SIGNALPRESS_FACILITATOR_URL: list } })).toMatchObject({
      facilitatorUrls: ['https://a.example/x402', 'http://127.0.0.1:1'],
    });
    const relayer = { SIGNALPRESS_RELAYER_KEY: 'file', SIGNALPRESS_NETWORK: 'base' };
    expect(load({ env: { ...pay, ...relayer, SIGNALPRESS_MAX_FEE_GWEI: '0.05' } })).toMatchObject({
      facilitatorUrls: [],
      relayerKey: 'file',
      maxFeeGwei: '0.05',
    });
  });

  it.each([
    [{ PORT: '65536' }, /SIGNALPRESS_PORT "65536": .*; set TCP port/],
    [{ PORT: '80a' }, /SIGNALPRESS_PORT/],
    [{ WORKERS: '0' }, /_WORKERS "0": not between 1 and 64; set a number of processes/],
    [{ DRAIN_SECONDS: '1.5' }, /_DRAIN_SECONDS "1.5": not a whole number; set seconds/],
    [{ BASE_URL: 'api.example.com' }, /SIGNALPRESS_BASE_URL .*URL/],
    [{ BASE_URL: 'https://api.example.com/' }, /ends with "\/"/],
    [
      { BASE_URL: 'https://user@api.example.com' },
      /_BASE_URL "https:\/\/…@api\.example\.com": a user or password .*; set public address/,
    ],
    [{ PAY_TO: '0x12' }, /SIGNALPRESS_PAY_TO .*40 hex/],
    [{ NETWORK: 'mainnet' }, /set one of base, base-sepolia, polygon/],
    [{ FACILITATOR_URL: 'https://f.example,f' }, /SIGNALPRESS_FACILITATOR_URL/],
    [{ FACILITATOR_URL: 'https://f.example,http://g.example' }, /g\.example": not https/],
    [
      { FACILITATOR_URL: 'https://f.example/x402?apiKey=k' },
      /_FACILITATOR_URL: .*"https:\/\/f\.example": .*_FACILITATOR_AUTH/,
    ],
    [{ CONFIRMATIONS: '0' }, /SIGNALPRESS_CONFIRMATIONS/],
    [{ MAX_FEE_GWEI: '1e9' }, /SIGNALPRESS_MAX_FEE_GWEI/],
    [{ MAX_FEE_GWEI: '0.000' }, /_MAX_FEE_GWEI "0\.000": no gas .*; set most gwei/],
    [{ FACILITATOR_AUTH: 'Authorization: ' }, /_AUTH: not one header; set one header/],
    [{ JOURNAL: 'mysql://h/d' }, /_JOURNAL: neither sqlite nor .*; set sqlite for/],
    [{ JOURNAL: 'postgres://h' }, /_JOURNAL: names no database; set sqlite for/],
    [{ ISSUER_DID: 'did:web:x' }, /SIGNALPRESS_ISSUER_DID .*did:key/],
    [{ RATE_LIMIT: '-1' }, /SIGNALPRESS_RATE_LIMIT/],
    [{ TEST_PAYMENTS: 'yes' }, /_TEST_PAYMENTS "yes": neither 0 nor 1; set 1 to simulate/],
    [{ LOG_REQUESTS: 'none' }, /_LOG_REQUESTS "none": neither off, .*; set off, err/],
    [{ METRICS: '9464' }, /_METRICS "9464": not an address with a port; set an addr/],
    [{ METRICS: '::1:9464' }, /_METRICS "::1:9464": not an address/],
    [{ METRICS: '127.0.0.1:65536' }, /_METRICS .*: not an address/],
    [{ METRICS_TOKEN: 'x'.repeat(31) }, /_METRICS_TOKEN: not 32 to 256 .*; set a/],
    [{ METRICS_TOKEN: `${'x'.repeat(32)} ` }, /_METRICS_TOKEN: not 32 to 256/],
  ])('refuses %j and says what to set', (env, message) => {
    expect(() => loadEnv(env)).toThrow(message);
  });

  it.each(['{', '[]', '{"port":{}}', '{"prot":1}'])('refuses the file %s', (fileText) => {
    expect(() => load({ fileText })).toThrow(/signalpress\.config\.json/);
  });

  it.each([
    ['{"toString":"a"}', '"toString" is not a setting; use one of'],
    ['{"constructor":"a"}', 'Cannot parse JSON at character 1: the key is reserved'],
    ['{"port":1,"port":2}', 'Cannot parse JSON at character 10: the key appears twice'],
    ['{"port":1', 'Cannot parse JSON "port" at character 9: not JSON: the text ends'],
    ['"port"', 'not an object of strings and numbers'],
    ['{"facilitator_url":["https://a.example"]}', '"facilitator_url" is a list; write one string,'],
    ['{"port":null}', '"port" is neither a string nor a number'],
  ])('says of the file %s what is wrong with it', (fileText, fault) => {
    expect(() => load({ fileText })).toThrow(`signalpress.config.json: ${fault}`);
  });

  it('takes several facilitators in the file as one text with commas', () => {
    const facilitator_url = 'https://a.example, https://b.example';
    const file = { facilitator_url, pay_to: PAYEE, rpc_url: 'https://node.example' };
    expect(load({ fileText: JSON.stringify(file) })).toMatchObject({
      facilitatorUrls: facilitator_url.split(', '),
    });
  });

  it('takes no other name in the file than a setting', () => {
    expect(() => load({ fileText: '{"nothing":1}' })).toThrow(
      `use one of ${SETTING_NAMES.join(', ')}`,
    );
  });

  it.each([
    ['asset', /: no longer a setting; leave it out: SIGNALPRESS_NETWORK says which USDC/],
    ['extensions', /: no longer a setting; leave it out: SIGNALPRESS_OFFER_RECEIPT_KEY turns/],
    ['cache', /: no longer a setting; leave it out: the cache is the folder "cache" in/],
    ['log_level', /: no longer a setting; leave it out, and set SIGNALPRESS_LOG_REQUESTS=errors/],
  ])(
    'refuses the gone setting "%s" wherever it stands, and says what to do instead',
    (name, says) => {
      const variable = `SIGNALPRESS_${name.toUpperCase()}`;
      const refused = new RegExp(`1 setting to correct\n {2}${variable}${says.source}`);
      expect(() => load({ env: { [variable]: 'x' } })).toThrow(refused);
      expect(() => load({ fileText: JSON.stringify({ [name]: 'x' }) })).toThrow(refused);
      expect(() => commandLine([`--${name.replaceAll('_', '-')}`, 'x'])).toThrow(says);
      expect(load({ env: { [variable]: '' } })).toEqual(load());
      expect(unknownVariables({ [variable]: 'x' })).toEqual([]);
    },
  );

  it('names all problems at once', () => {
    const env = { SIGNALPRESS_PORT: 'x', SIGNALPRESS_PAY_TO: 'y', SIGNALPRESS_NETWORK: 'z' };
    expect(() => load({ env })).toThrow(/3 settings.*PORT.*PAY_TO.*NETWORK/s);
  });

  it('names problems of settings that are read later at once, too', () => {
    const env = {
      SIGNALPRESS_PAY_TO: PAYEE.replace('E', 'e'),
      SIGNALPRESS_FACILITATOR_URL: 'http://f.example',
      SIGNALPRESS_FACILITATOR_AUTH: 'hunter2',
      SIGNALPRESS_RPC_URL: 'http://node.example/hunter2',
      SIGNALPRESS_BASE_URL: 'https://a.example/',
    };
    expect(() => load({ env })).toThrow(
      /5 settings.*BASE_URL.*PAY_TO.*checksum.*f\.example": not https.*_AUTH: not one header.*RPC_URL: .*not https/s,
    );
    expect(() => load({ env })).not.toThrow(/hunter2/);
  });

  it.each(['hunter2', ': hunter2', 'a b: hunter2', 'a: hunt\r\nb: er2', 'a: hunté'])(
    'takes no header like %j for the facilitator, and does not repeat it',
    (header) => {
      const env = { SIGNALPRESS_FACILITATOR_AUTH: header };
      expect(() => load({ env })).toThrow(/^.*1 setting to correct\n {2}\w+_AUTH: not one header/);
      expect(() => load({ env })).not.toThrow(/hunt/);
      const settler = {
        SIGNALPRESS_FACILITATOR_URL: 'https://f.example',
        SIGNALPRESS_PAY_TO: PAYEE,
      };
      const auth = { SIGNALPRESS_FACILITATOR_AUTH: 'X-Key:  a b:c\n' };
      expect(load({ env: { ...settler, ...auth } })).toMatchObject({
        facilitatorAuth: 'X-Key:  a b:c\n',
      });
    },
  );

  it('names a misspelt variable next to what is missing for want of it, and never its value', () => {
    const url = { SIGNALPRESS_FACILITATOR_URL: 'https://x.example' };
    const env = { ...url, SIGNALPRESS_PAYTO: PAYEE, SIGNALPRESS_NOTHING_LIKE: 'x' };
    expect(() => load({ env })).toThrow(
      /3 settings.*PAY_TO: missing.*"SIGNALPRESS_PAYTO" is not a setting .*; did you mean SIGNALPRESS_PAY_TO\?\n.*"SIGNALPRESS_NOTHING_LIKE" .*; correct its name$/s,
    );
    expect(() => load({ env })).not.toThrow(PAYEE);
    expect(load({ env: { ...env, SIGNALPRESS_PAY_TO: PAYEE } })).toMatchObject({ payTo: PAYEE });
  });

  it('I49: never repeats a secret', () => {
    const env = { SIGNALPRESS_TOKEN_SECRET: 'hunter2', SIGNALPRESS_METRICS_TOKEN: 'hunter2' };
    expect(() => load({ env })).toThrow(/TOKEN_SECRET: not one or two.*METRICS_TOKEN: not 32/s);
    expect(() => load({ env })).not.toThrow(/hunter2/);
    for (const url of [
      'ftp://hunter2',
      'https://u:hunter2@f.example',
      'http://f.example/hunter2',
    ]) {
      const faults = () => load({ env: { SIGNALPRESS_FACILITATOR_URL: url } });
      expect(faults).toThrow(/SIGNALPRESS_FACILITATOR_URL: /);
      expect(faults).not.toThrow(/hunter2/);
    }
    expect(() => load({ env: { SIGNALPRESS_RPC_URL: 'ftp://hunter2' } })).not.toThrow(/hunter2/);
    for (const url of [
      'https://u:hunter2@a.example',
      'https://hunter2@a.example/?',
      'x://hunter2@a',
    ]) {
      const faults = () => load({ env: { SIGNALPRESS_BASE_URL: url } });
      expect(faults).toThrow(/1 setting.*SIGNALPRESS_BASE_URL "/s);
      expect(faults).not.toThrow(/hunter2/);
    }
    const plain = 'http://127.0.0.1/of@all';
    expect(load({ env: { SIGNALPRESS_BASE_URL: plain } })).toMatchObject({ baseUrl: plain });
  });
});

describe('loadJournalPlace()', () => {
  const place = (sources: Partial<ConfigSources>) =>
    loadJournalPlace({ options: {}, env: {}, fileText: null, ...sources });

  it('reads where the journal lies, whatever else is wrong', () => {
    expect(place({})).toEqual({ stateDir: '.signalpress', journal: 'sqlite' });
    const env = { SIGNALPRESS_STATE: 's', SIGNALPRESS_PORT: 'x', SIGNALPRESS_LOG_LEVEL: 'x' };
    expect(place({ env })).toEqual({ stateDir: 's', journal: 'sqlite' });
    const journal = 'postgres://h/d';
    expect(place({ fileText: JSON.stringify({ journal }) })).toMatchObject({ journal });
    expect(() => place({ fileText: '{' })).toThrow(/not JSON/);
    expect(() => place({ env: { SIGNALPRESS_JOURNAL: 'mysql://u:hunter2@h/d' } })).toThrow(
      /^(?!.*hunter2).*\n.*_JOURNAL: neither/,
    );
  });
});

describe('unknownVariables()', () => {
  it('names what is misspelt, and nothing that this program or the compiler reads', () => {
    const names = ['SIGNALPRESS_PAY_TO', 'SIGNALPRESS_ISSUER_KEY', 'SIGNALPRESS_CONTACT', 'PATH'];
    const env = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(unknownVariables(env)).toEqual([]);
    expect(unknownVariables({ ...env, SIGNALPRESS_PAYTO: 'x' })).toEqual(['SIGNALPRESS_PAYTO']);
  });
});

describe('commandLine()', () => {
  it('reads a value behind a space and behind "=", by setting name', () => {
    expect(commandLine([])).toEqual({ wants: 'start', options: {} });
    expect(commandLine(['--port', '8080', '--pay-to=0x1', '--host=-x'])).toEqual({
      wants: 'start',
      options: { port: '8080', pay_to: '0x1', host: '-x' },
    });
    const all = FLAGS.flatMap((flag) => [`--${flag}`, 'x']);
    expect(Object.keys(commandLine(all).options)).toHaveLength(FLAGS.length);
  });

  it.each([
    [['--port', '8080', '--help'], 'help'],
    [['-h', '--prot', '1'], 'help'],
    [['--port', '8080', '--version'], 'version'],
    [['--port', '8080'], 'start'],
  ])('%j wants %s', (args, wants) => {
    expect(commandLine(args).wants).toBe(wants);
  });

  it.each([
    [['--prot', '1'], /^Cannot read flag "--prot": no such flag; did you mean "--port"\?$/],
    [['--pay_to=hunter2'], /^Cannot read flag "--pay_to": .*did you mean "--pay-to"\?$/],
    [['--nothing-like-it'], /"--nothing-like-it": no such flag; see signalpress-gate --help$/],
    [
      ['--token-secret', 'hunter2'],
      /"--token-secret": a secret cannot be a flag, .*; set SIGNALPRESS_TOKEN_SECRET$/,
    ],
    [['-x'], /"-x": no such flag/],
    [['--port'], /"--port": it has no value; write --port=<value>$/],
    [['--port', '--host', 'x'], /"--port": it has no value/],
    [['serve'], /^Cannot read argument "serve": it does not belong to a flag/],
  ])('names in %j what it cannot read, and no value', (args, message) => {
    const read = () => commandLine(args);
    expect(read).toThrow(StartError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/hunter2/);
  });
});

describe('settingRows()', () => {
  it('are the table of SETTINGS.md; vitest writes it with --update', async () => {
    const path = join(import.meta.dirname, '../../../gatekeeper/SETTINGS.md');
    const rows = settingRows().map(([name, text]) => `| \`${envName(name)}\` | ${text} |\n`);
    const written = readFileSync(path, 'utf8');
    const made = written.replace(/(^\| `SIGNALPRESS_\w+` .*\n)+/m, () => rows.join(''));
    await expect(made).toMatchFileSnapshot(path);
  });

  it('are shown by --help, secrets by their variables alone', () => {
    const lines = settingsHelp().split('\n');
    expect(lines).toHaveLength(SETTING_NAMES.length);
    expect(lines).toContain(`  ${'--port'.padEnd(33)} TCP port (default: 4021)`);
    expect(lines.filter((line) => line.startsWith('  SIGNALPRESS_TOKEN_SECRET '))).toHaveLength(1);
    expect(settingsHelp()).not.toContain('--token-secret');
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

const CANARY = 'canary-0123456789-0123456789-0123456789';
const CANARY_URL = `https://f.example/${CANARY}`;

const shownOf = (options: Record<string, string>) => shownSettings(load({ options }));

describe('shownSettings()', () => {
  const shown = shownOf({
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
    const relayed = shownOf({ pay_to: PAYEE, relayer_key: CANARY, rpc_url: 'https://n.example' });
    expect(relayed.relayer_key).toBe('set');
    expect(JSON.stringify(relayed)).not.toContain('canary');
  });

  it('shows everything else as it is', () => {
    expect(shown).toMatchObject({ pay_to: PAYEE, port: 4021, metrics: '127.0.0.1:9464' });
    expect(shownOf({})).toMatchObject({ token_secret: null, metrics: null, log_requests: 'all' });
    expect(shownOf({})).toMatchObject({ journal: 'sqlite' });
  });

  it('leaves out only that the data may come over http', () => {
    const missing = SETTING_NAMES.filter((name) => !Object.hasOwn(shown, name));
    expect(missing.sort()).toEqual(['data_http']);
    expect(SECRET.filter((name) => !Object.hasOwn(shown, name))).toEqual([]);
  });
});

describe('metricsOfWorker()', () => {
  it('gives each process a port of its own, the first the one that is set', () => {
    const settings = metricsSettings('127.0.0.1:9464', null);
    if (settings === null) throw new Error('no settings');
    expect([0, 1, 2].map((place) => metricsOfWorker(settings, place).address?.port)).toEqual([
      9464, 9465, 9466,
    ]);
  });

  it('leaves a port alone that the system chooses, and a token without an address', () => {
    for (const settings of [
      metricsSettings('127.0.0.1:0', null),
      metricsSettings(null, 'x'.repeat(32)),
    ]) {
      if (settings === null) throw new Error('no settings');
      expect(metricsOfWorker(settings, 2)).toEqual(settings);
    }
  });
});
