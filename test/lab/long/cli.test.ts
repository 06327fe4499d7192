import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { built, CommandRuns } from '../../command-runs.ts';
import {
  AS_OF,
  makeFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);
/** All starts of this file but those that need a shell, or a process of their own. */
const commands = new CommandRuns();
const CLI = built('compiler/signalpress.js');
const SECRET = '0123456789abcdef'.repeat(4);

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = makeFolder();
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr, cwd };
}

const snapshots = writeSnapshots({
  '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 1 })]),
});
const USER_INFO = 'Cannot publish at "https://x.example": a user, password, query or fragment';
const COMPILE = ['compile', '--snapshots', snapshots, '--workers', '0', '--as-of', AS_OF];

describe('signalpress --help', () => {
  const HELPED: readonly string[][] = [
    ['compile'],
    ['verify'],
    ['releases', 'diff'],
    ['releases', 'prune'],
    ['stats'],
    ['import', 'sec-edgar'],
    ['receipt', 'issue'],
  ];
  const helped = HELPED.map((words) => ({
    words,
    ended: commands.plan([...words, '--help']),
  }));

  it.each(helped)(
    'shows at $words what it does, an example with its own options, and its exit codes',
    ({ words, ended }) => {
      const { status, stdout } = ended();
      const [options = '', examples = ''] = stdout.split('Examples:');
      expect(status).toBe(0);
      expect(options).toMatch(/^Usage: signalpress .+\n\n[a-z]/);
      expect(examples).toContain(`\n  signalpress ${words.join(' ')} `);
      expect(stdout).toContain('Exit codes:');
      for (const [option] of examples.matchAll(/--[a-z-]+/g)) expect(options).toContain(option);
    },
  );

  it('answers a word that is no command with the list of commands, and exit code 1', () => {
    const { status, stdout, stderr } = run(['sell']);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain("unknown command 'sell'");
    expect(stderr).toContain('--help lists all commands');
  });
});

describe('a reader that goes away', () => {
  const shown = (to: string) => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, 'unsigned.json'), '{}');
    const script = `"${process.execPath}" "${CLI}" verify unsigned.json ${to}; exit \${PIPESTATUS[0]}`;
    return spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8' });
  };

  it('changes no exit code and is told no stack', () => {
    expect(shown('| true')).toMatchObject({ status: 2, stderr: '' });
  });

  it.skipIf(!existsSync('/dev/full'))(
    'is not a disk that takes no more (skipped without /dev/full)',
    () => {
      const { status, stderr } = shown('> /dev/full');
      expect(status).not.toBe(2);
      expect(stderr).toContain('ENOSPC');
    },
  );
});

describe('signalpress verify', () => {
  const MISUSES: readonly string[][] = [
    [],
    ['body.json', '--bogus'],
    ['one', 'two'],
    ['body.json', '--trust', 'none.trust'],
    ['body.json', '--trust', 'none.trust', '--issuer', 'did:key:z6Mk'],
    ['data', '--log', '--expect', 'GET /gauge'],
  ];
  const misused = MISUSES.map((args) => ({ args, ended: commands.plan(['verify', ...args]) }));

  it.each(misused)('ends with 2 for $args, which is no verdict', ({ ended }) => {
    const { status, stdout, stderr } = ended();
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^(error:|Cannot )/);
  });

  it('reads a body from a name that the shell gives a pipe', () => {
    const script = `${process.execPath} ${CLI} verify <(echo '{"_citation":1}')`;
    const { status, stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([expect.any(Number), expect.stringContaining('_citation')]);
  });

  const issuer = ['--issuer', 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw'];
  const body = join(makeFolder(), 'body.json');
  writeFileSync(body, '{"a":1}');
  const judged = [issuer, [...issuer, ...issuer]].map((flags) =>
    commands.plan(['verify', ...flags, body]),
  );
  const withoutTarget = commands.plan(['verify', ...issuer]);
  const forNobody = commands.plan(['verify', '--issuer', 'acme', body]);

  it('takes its options in front of the target, one issuer each time', () => {
    for (const ended of judged) {
      const { status, stdout } = ended();
      expect([status, stdout]).toEqual([2, expect.stringContaining(`cannot be judged  ${body}`)]);
    }
    expect(withoutTarget().stderr).toContain('missing required argument');
    expect(forNobody().stdout).toContain('did:key');
  });
});

describe('times of options', () => {
  const TIMES = ['2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', 'Nov 20 2026 Z', '2026-11-20'];
  const refused = TIMES.map((time) => ({
    time,
    ended: commands.plan(['compile', '--snapshots', snapshots, '--as-of', time]),
  }));

  it.each(refused)('refuses "$time"', ({ time, ended }) => {
    const { status, stderr } = ended();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`Cannot use --as-of "${time}": not an ISO-8601 time in UTC`),
    ]);
  });
});

describe('signalpress compile --valid-until', () => {
  const env = { SIGNALPRESS_ISSUER_KEY: SECRET };
  const until = (time: string) => commands.plan([...COMPILE, '--valid-until', time], { env });
  const [atOnce, later] = [until(AS_OF), until(AS_OF.replace('2026-11-20', '2026-11-27'))];

  it('I26: refuses a release that is stale when it is published', () => {
    const { status, stderr, cwd } = atOnce();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`valid_until: "${AS_OF}" is not after the publication time`),
    ]);
    expect(existsSync(join(cwd, 'dist-data/current'))).toBe(false);
    expect(later().status).toBe(0);
  });
});

describe('options that may be given more than once', () => {
  const repeated = [['verify'], ['anchor', 'stamp'], ['anchor', 'upgrade']].map((words) => ({
    words,
    ended: commands.plan([...words, '--help']),
  }));

  it.each(repeated)(
    'take one value each at $words, so that none swallows what stands behind it',
    ({ ended }) => {
      const { status, stdout } = ended();
      expect(status).toBe(0);
      expect(stdout).toContain('may be repeated');
      expect(stdout).not.toContain('...>');
    },
  );
});

describe('signalpress anchor stamp', () => {
  const cwd = makeFolder();
  const compiled = commands.plan(COMPILE, { cwd, env: { SIGNALPRESS_ISSUER_KEY: SECRET } });
  const nobody = ['--calendar', 'http://127.0.0.1:1', '--calendar', 'http://127.0.0.1:2'];
  const stamped = commands.plan(['anchor', 'stamp', ...nobody], { cwd });

  it('ends with 1 when no calendar answered', () => {
    expect(compiled().status).toBe(0);
    const { status, stdout } = stamped();
    expect([status, stdout]).toEqual([1, expect.stringContaining('Nothing was stamped')]);
    expect(stdout).toContain('127.0.0.1:2');
  });
});

describe('signalpress keygen', () => {
  const made = commands.plan(['keygen']);
  const path = join(makeFolder(), 'issuer.key');
  writeFileSync(path, SECRET);
  const refused = commands.plan(['keygen', path]);

  it('writes a key file, prints the DID and never the key', () => {
    const { status, stdout, cwd } = made();
    const key = readFileSync(join(cwd, 'issuer.key'), 'utf8').trim();
    expect([status, statSync(join(cwd, 'issuer.key')).mode & 0o777]).toEqual([0, 0o600]);
    expect(stdout).toMatch(/^Issuer did:key:z6Mk/);
    expect(stdout).not.toContain(key);
  });

  it('refuses to overwrite a key', () => {
    const { status, stdout, stderr } = refused();
    expect([status, readFileSync(path, 'utf8')]).toEqual([1, SECRET]);
    expect(stderr).toContain('never overwritten');
    expect(stdout + stderr).not.toContain(SECRET);
  });
});

describe('signalpress with an option that makes no sense', () => {
  const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const MISUSES: readonly [string[], string][] = [
    [['key', 'rotate', '--to', SECRET, '--overlap', 'x'], '--overlap "x": not a number of days'],
    [['key', 'rotate', '--to', SECRET, '--from', 'soon'], '--from "soon": not an ISO-8601 time'],
    [['key', 'rotate', '--to', 'absent'], 'key file of --to: there is no such file'],
    [['key', 'revoke', '--did', SECRET, '--from', AS_OF], '--did: not a did:key'],
    [['receipt', 'issue', target, '--key', SECRET, '--seconds', 'x'], 'not a whole number above 0'],
    [['compile', '--snapshots', CLI], 'a file stands where a folder is needed'],
    [['compile', '--snapshots', snapshots, '--data', CLI], 'Cannot make folder'],
  ];
  const env = { SIGNALPRESS_ISSUER_KEY: SECRET };
  const misused = MISUSES.map(([args, says]) => {
    return { args, says, ended: commands.plan(args, { env }) };
  });

  it.each(misused)('says in one sentence what is wrong with it: $args', ({ says, ended }) => {
    const { status, stdout, stderr } = ended();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(says);
    expect(stderr.trim()).not.toContain('\n');
    expect(stderr).not.toContain(SECRET);
  });
});

describe('signalpress compile', () => {
  it('publishes a release and says what it holds', () => {
    const { status, stdout, stderr, cwd } = run(COMPILE, { SIGNALPRESS_ISSUER_KEY: SECRET });
    expect(stderr).not.toContain('Cannot');
    expect(status).toBe(0);
    expect(stdout).toContain('Release 1 is published.');
    expect(stdout).toContain('1 of 1 series');
    const head = readJson(join(cwd, 'dist-data/current'), 'release.json');
    expect([head.as_of, head.issuer_name]).toEqual([AS_OF, 'Signalpress']);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  const flags = ['--issuer-name', 'Flag', '--base-url', 'https://flag.example/at@home/'];
  const configured = commands.plan([...COMPILE, ...flags, '--data', 'here'], {
    env: {
      SIGNALPRESS_ISSUER_KEY: SECRET,
      SIGNALPRESS_ISSUER_NAME: 'Environment',
      SIGNALPRESS_BASE_URL: 'https://environment.example',
      SIGNALPRESS_DATA: 'there',
    },
  });

  it('takes its settings from flags before the environment', () => {
    const { cwd } = configured();
    const head = readJson(join(cwd, 'here/current'), 'release.json');
    expect([head.issuer_name, head.base_url]).toEqual(['Flag', 'https://flag.example/at@home']);
    expect(existsSync(join(cwd, 'there'))).toBe(false);
  });

  type Refused = readonly [string, readonly string[], Readonly<Record<string, string>>, string];
  const REFUSED: readonly Refused[] = [
    ['no key', [], {}, 'no issuer key'],
    ['an empty name', ['--issuer-name', ' '], {}, '--issuer-name is empty'],
    ['I49: a key that is none', [], { SIGNALPRESS_ISSUER_KEY: `0x${SECRET}` }, 'issuer key file'],
    ['a time that is none', ['--as-of', 'yesterday'], {}, 'not an ISO-8601 time'],
    [
      'I18: a time that depends on the time zone',
      ['--as-of', '2026-11-20T12:00:00'],
      {},
      '--as-of',
    ],
    ['an end that is none', ['--valid-until', 'never'], {}, 'Cannot use --valid-until "never"'],
    ['an address that is none', ['--base-url', 'ftp://example.org'], {}, 'not an http'],
    ['an address of one slash', ['--base-url', 'https:/x.example'], {}, 'write it as https://'],
    ['a name beyond ASCII', ['--base-url', 'https://bücher.example'], {}, 'in its xn-- form'],
    ['a password in the address', ['--base-url', 'https://u:p@x.example'], {}, USER_INFO],
    ['a user in the address', ['--base-url', 'https://u@x.example'], {}, USER_INFO],
    ['a query in the address', ['--base-url', 'https://x.example?'], {}, USER_INFO],
    ['an address of two lines', ['--base-url', 'https://x.example\n'], {}, 'not an http'],
    ['a name of two lines', ['--issuer-name', 'a\nb'], {}, 'Cannot publish as "a\\nb": the hidden'],
    ['too many workers', ['--workers', '99'], {}, 'workers'],
    ['half a worker', ['--workers', '0.5'], {}, 'workers'],
    ['to keep no release', ['--keep-last', '0'], {}, 'Cannot use --keep-last "0"'],
    ['to keep for no time', ['--keep-days', 'long'], {}, 'Cannot use --keep-days "long"'],
    ['a share without its sign', ['--max-rejects', '0.5'], {}, 'a share from 0% to 50%'],
    ['more than half of the lines', ['--max-rejects', '50.1%'], {}, 'a share from 0% to 50%'],
    [
      'nothing stored',
      ['--snapshots', 'absent'],
      { SIGNALPRESS_ISSUER_KEY: SECRET },
      'no snapshots',
    ],
  ];
  const refused = REFUSED.map(([what, more, own, says]) => {
    const isOwn = Object.keys(own).length > 0 || says === 'no issuer key';
    const env = isOwn ? own : { SIGNALPRESS_ISSUER_KEY: SECRET };
    return { what, says, ended: commands.plan([...COMPILE, ...more], { env }) };
  });

  it.each(refused)('refuses $what in one sentence, with exit code 1', ({ says, ended }) => {
    const { status, stdout, stderr, cwd } = ended();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr).not.toContain(SECRET);
    expect(readdirSync(cwd)).toEqual([]);
  });

  const ofFile = (text: string, ...more: readonly string[]) => {
    const from = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': text });
    const args = ['compile', '--snapshots', from, '--workers', '0', ...more];
    return commands.plan(args, { env: { SIGNALPRESS_ISSUER_KEY: SECRET } });
  };
  const good = ndjson([reading('btc', { price_usd: 1 }), reading('eth', { price_usd: 2 })]);
  const partly = ofFile(`${good}{}\n`, '--max-rejects', '33.4%');
  const tooFew = ofFile(`${good}{}\n`, '--max-rejects', '33%');
  const bad = ofFile('{"entity":"btc"}\n');

  it('I23: leaves out a share of bad lines that is allowed, and warns in the closing words', () => {
    const { status, stdout, cwd } = partly();
    expect(status).toBe(0);
    expect(stdout).toContain('Warning: bad lines left out: 1');
    expect(readJson(join(cwd, 'dist-data/current'), 'release.json').counts.rejects).toBe(1);
    expect(tooFew()).toMatchObject({ status: 1, stdout: '' });
  });

  it('names file, line and field of a bad reading', () => {
    const { status, stderr } = bad();
    expect(status).toBe(1);
    expect(stderr).toContain('2026-11-20/crypto.spot.ndjson:1 observed_at: missing');
  });
});
