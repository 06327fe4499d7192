import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatKeyHistory } from '../../../../../compiler/format/key-history.ts';
import { MONITOR_EXIT } from '../../../../../compiler/verify/monitor/monitor.ts';
import { readPolicy } from '../../../../../compiler/verify/policy-check.ts';
import { InventedWitness } from '../../../../publish/witness/invented-log.ts';
import { removeFolders } from '../../../../snapshot-folder.ts';
import {
  BASE_URL,
  didOfSeed,
  filesOf,
  keysOf,
  type Published,
  publish,
  publishHours,
  rotation,
} from '../../../../verify/monitor/lying-service.ts';
import { sampleBodies, Watching } from '../../../../verify/monitor/watching.ts';

const MIRROR = 'https://mirror.example';
const HOUR = { minutes: 60 };

/** Seven honest releases, and another history of the log behind the second one. */
let honest: Published[];
let other: Published[];
beforeAll(() => {
  honest = publishHours(7);
  other = honest.slice(0, 2);
  for (const [index, { head }] of honest.entries()) {
    if (index < 2) continue;
    const taken = 1000 + index * 10;
    other.push(publish(other.at(-1) ?? null, { taken, as_of: head.as_of }));
  }
});
afterAll(removeFolders);

function nth(releases: readonly Published[], index: number): Published {
  const release = releases[index];
  if (release === undefined) throw new Error(`no release ${index}`);
  return release;
}

/** A monitor that saw the first honest releases. */
async function watchingFirst(count: number, addresses = [BASE_URL]): Promise<Watching> {
  const watching = new Watching({ addresses });
  for (const address of addresses) watching.network.sites.set(address, filesOf(nth(honest, 0)));
  for (let index = 0; index < count; index += 1) {
    for (const address of addresses) {
      watching.network.sites.set(address, filesOf(nth(honest, index)));
    }
    expect(await watching.sees(filesOf(nth(honest, index)), HOUR)).toEqual([]);
  }
  expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  return watching;
}

describe('Monitor.look()', () => {
  it('I70: finds nothing wrong with a log that only grows, seen at every release or not', async () => {
    const watching = new Watching();
    for (const index of [0, 1, 2, 5, 6]) {
      expect(await watching.sees(filesOf(nth(honest, index)), HOUR)).toEqual([]);
    }
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(watching.status()).toMatchObject({
      verdict: 'well',
      tree_size: 7,
      checkpoints_kept: 5,
      release: { sequence: 7 },
    });
    expect(watching.verdicts()).toEqual([]);
  });

  it('I70: proves a fork of the same size', async () => {
    const watching = await watchingFirst(3);
    expect(await watching.sees(filesOf(nth(other, 2)))).toEqual(['fork']);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.alarm);
    expect(watching.verdicts()).toEqual(['fork proven']);
    // What is proven stays, whatever is shown afterwards, and is written once.
    expect(await watching.sees(filesOf(nth(honest, 3)), { looks: 3 })).toEqual(['fork']);
    expect(await watching.sees(filesOf(nth(other, 4)), { looks: 3 })).toContain('fork');
    expect(watching.verdicts().filter((each) => each.startsWith('fork'))).toHaveLength(1);
  });

  it.each([
    [2, 4],
    [3, 6],
  ])('proves a fork of another size behind release %i', async (first, then) => {
    const watching = await watchingFirst(first + 1);
    expect(await watching.sees(filesOf(nth(other, then)))).toContain('fork');
    expect(watching.verdicts()).toContain('fork proven');
  });

  it('proves a smaller fork where another address still has the tiles', async () => {
    const watching = await watchingFirst(6, [BASE_URL, MIRROR]);
    const smaller = { ...nth(other, 3), head: nth(honest, 3).head };
    expect(await watching.sees(filesOf(smaller))).toContain('fork');
    expect(watching.verdicts()).toContain('fork proven');
  });

  it('proves an equivocation between two addresses, and takes a mirror that lags for none', async () => {
    const watching = await watchingFirst(3, [BASE_URL, MIRROR]);
    expect(await watching.sees(filesOf(nth(honest, 4)), { looks: 3 })).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(await watching.sees(filesOf(nth(other, 3)), { address: MIRROR })).toEqual(['fork']);
    expect(watching.verdicts()).toEqual(['fork proven']);
  });

  it('proves two releases of one number, a broken chain and a log that shrank', async () => {
    const { as_of, sequence } = nth(honest, 2).head;
    const lies = [
      { sequence, files_sha256: `sha256:${'1'.repeat(64)}` },
      { sequence: sequence + 1, previous: `sha256:${'2'.repeat(64)}` },
      { sequence: sequence + 2, as_of: '2026-11-20T13:30:00Z' },
    ];
    for (const head of lies) {
      const watching = await watchingFirst(3);
      const lie = publish(nth(honest, 2), { taken: 500, as_of, head });
      expect(await watching.sees(filesOf(lie))).toContain('release_fork');
      expect(watching.verdicts()).toContain('heads proven');
    }
  });

  it('proves that the entry of a release is of another head', async () => {
    const watching = await watchingFirst(2);
    const strange = `sha256:${'9'.repeat(64)}`;
    const as_of = '2026-11-20T14:00:00Z';
    const lie = publish(nth(honest, 1), { taken: 500, as_of, entry: { head: strange } });
    expect(await watching.sees(filesOf(lie))).toEqual(['leaf_missing']);
    expect(watching.verdicts()).toEqual(['leaf proven']);
  });

  it('proves that a sequence is lost, and that an entry is of no release', async () => {
    const as_of = '2026-11-20T14:00:00Z';
    const lost = publish(nth(honest, 1), { as_of, head: { sequence: 4 } });
    const strange = publish(nth(honest, 1), { as_of, bytes: Buffer.from('{"all":1}') });
    for (const lie of [lost, strange]) {
      const watching = await watchingFirst(2);
      expect(await watching.sees(filesOf(lie))).toContain('log_order');
      expect(watching.verdicts()).toContain('entries proven');
    }
  });

  it('sees a log whose time falls, but for a clock that was set right', async () => {
    const early = { as_of: '2026-11-20T12:30:00Z', head: { previous: null } };
    const lie = publish(nth(honest, 1), early);
    const first = publish(lie, { as_of: '2026-11-20T14:00:00Z' });
    const watching = await watchingFirst(1);
    expect(await watching.sees(filesOf(first), { looks: 2 })).toEqual(['log_order']);
    expect(watching.verdicts()).toEqual([]);
    const clock_corrected = { sequence: 3, latest: nth(honest, 1).head.as_of };
    const set = publish(nth(honest, 1), { as_of: early.as_of, head: { clock_corrected } });
    const right = await watchingFirst(2);
    expect(await right.sees(filesOf(set), { looks: 2 })).toEqual([]);
    expect(right.monitor.exitCode).toBe(MONITOR_EXIT.well);
  });

  it('takes a log that is one entry ahead for the moment of a switch, and no longer', async () => {
    const watching = await watchingFirst(2);
    const ahead = { ...nth(honest, 1), log: nth(honest, 2).log };
    expect(await watching.sees(filesOf(ahead))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.undecided);
    expect(await watching.sees(filesOf(ahead))).toEqual(['frozen']);
    expect(watching.verdicts()).toEqual([]);
    expect(await watching.sees(filesOf(nth(honest, 2)))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  });

  it('says that a release is not in the log yet, and proves nothing by that', async () => {
    const watching = await watchingFirst(2);
    const early = { ...nth(honest, 2), log: nth(honest, 1).log };
    expect(await watching.sees(filesOf(early))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.undecided);
    expect(await watching.sees(filesOf(early))).toEqual(['leaf_missing']);
    expect(watching.verdicts()).toEqual([]);
    expect(await watching.sees(filesOf(nth(honest, 2)))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  });

  it('sees a rollback in two looks, and that it ended', async () => {
    const watching = await watchingFirst(4);
    expect(await watching.sees(filesOf(nth(honest, 2)))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.undecided);
    expect(await watching.sees(filesOf(nth(honest, 2)))).toEqual(['rollback']);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.alarm);
    expect(await watching.sees(filesOf(nth(honest, 4)))).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(watching.verdicts()).toEqual([]);
    expect(watching.lines.join('\n')).toMatch(/ALARM rollback: .*no longer so: rollback/s);
  });

  it('sees a freeze by the promise of the head, and none before it is due', async () => {
    const as_of = '2026-11-20T13:00:00Z';
    const head = { valid_until: '2026-11-20T15:00:00Z' };
    const promised = publish(nth(honest, 0), { taken: 500, as_of, head });
    const watching = new Watching();
    expect(await watching.sees(filesOf(promised), { looks: 10, minutes: 14 })).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(await watching.sees(filesOf(promised), { looks: 2, minutes: 30 })).toEqual(['frozen']);
  });

  it('sees a silence by the rhythm of the log, and none in its usual pause', async () => {
    const watching = await watchingFirst(5);
    expect(await watching.sees(filesOf(nth(honest, 4)), { looks: 3, minutes: 60 })).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(await watching.sees(filesOf(nth(honest, 4)), { looks: 2, minutes: 60 })).toEqual([
      'silent',
    ]);
    expect(await watching.sees(filesOf(nth(honest, 5)))).toEqual([]);
  });

  it('sees an unknown key, and takes one that the list of keys vouches for', async () => {
    const as_of = '2026-11-20T14:00:00Z';
    const taken = 500;
    const next = publish(nth(honest, 1), { taken, as_of, seed: 9 });
    const watching = await watchingFirst(2);
    expect(await watching.sees(filesOf(next), { looks: 2 })).toEqual(['unknown_key']);
    expect(watching.verdicts()).toEqual([]);
    const rotated = await watchingFirst(2);
    const keys = formatKeyHistory(keysOf([rotation(7, 9)]));
    expect(await rotated.sees(filesOf(next, keys), { looks: 2 })).toEqual([]);
    expect(rotated.lines.join('\n')).toContain(`new issuer key ${didOfSeed(9)}`);
  });

  it('sees a key that is listed no longer, and proves one that announced two successors', async () => {
    const watching = await watchingFirst(2);
    const listed = filesOf(nth(honest, 2), formatKeyHistory(keysOf([rotation(7, 9)])));
    expect(await watching.sees(listed, HOUR)).toEqual([]);
    expect(await watching.sees(filesOf(nth(honest, 2)), { looks: 2 })).toEqual(['key_unlisted']);
    expect(watching.verdicts()).toEqual([]);
    const false9 = filesOf(nth(honest, 2), formatKeyHistory(keysOf([rotation(7, 11)])));
    expect(await watching.sees(false9)).toContain('key_fork');
    expect(watching.verdicts()).toEqual(['keys proven']);
  });

  it('sees tiles that lead to no signed root, and takes no proof from them', async () => {
    const damaged = new Map(nth(honest, 3).log);
    for (const [path, bytes] of damaged) {
      if (path.startsWith('log/tile/0/')) damaged.set(path, Buffer.alloc(bytes.length, 3));
    }
    const missing = new Map([...nth(honest, 3).log].filter(([path]) => !path.includes('/tile/')));
    for (const log of [damaged, missing]) {
      const watching = await watchingFirst(2);
      const lie = { ...nth(honest, 3), log };
      expect(await watching.sees(filesOf(lie), { looks: 2 })).toContain('unproven');
      expect(watching.verdicts()).toEqual([]);
      // Whoever has the tiles may still compare the signed note.
      const [kept = ''] = readdirSync(join(watching.folder, 'unproven'));
      const note = readFileSync(join(watching.folder, 'unproven', kept), 'utf8');
      expect(note).toBe(String(log.get('log/checkpoint')));
      expect(await watching.sees(filesOf(nth(honest, 3)))).toEqual([]);
    }
  });

  it('sees that the log of another service is shown, and what is no checkpoint', async () => {
    const watching = await watchingFirst(2);
    const files = filesOf(nth(honest, 1));
    files.set('/log/checkpoint', '<html>back soon</html>');
    expect(await watching.sees(files, { looks: 2 })).toEqual(['unreadable']);
    const strange = new Watching();
    strange.network.sites.set(BASE_URL, filesOf(nth(honest, 1)));
    const head = { base_url: 'https://elsewhere.example' };
    const as_of = '2026-11-20T14:00:00Z';
    const lie = publish(nth(honest, 1), { taken: 500, as_of, head });
    expect(await strange.sees(filesOf(lie), { looks: 2 })).toEqual(['other_log']);
  });

  it('sees that a checkpoint lacks the witnesses that a policy demands, and is content once they signed', async () => {
    const witness = new InventedWitness('w.example/1');
    const text = `${witness.policyLine('First')}quorum First\n`;
    const policy = readPolicy(Buffer.from(text));
    const watching = new Watching({ policy });
    const bare = filesOf(nth(honest, 1));
    expect(await watching.sees(bare, { looks: 2 })).toEqual(['unwitnessed']);
    expect(watching.verdicts()).toEqual([]);
    const note = String(bare.get('/log/checkpoint'));
    bare.set('/log/checkpoint', witness.cosign(note, '2026-11-20T12:31:00Z'));
    expect(await watching.sees(bare)).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  });

  it('tells of a reading that is said in another way, with both signed bodies, and is no alarm', async () => {
    const [first, corrected] = await sampleBodies();
    const watching = await watchingFirst(2);
    const files = filesOf(nth(honest, 1));
    files.set('/gauge/sample', first);
    expect(await watching.sees(files, { looks: 2 })).toEqual([]);
    expect(watching.status().notices).toEqual([]);
    files.set('/gauge/sample', corrected);
    expect(await watching.sees(files, { looks: 2 })).toEqual([]);
    expect(watching.status().notices).toHaveLength(1);
    expect(watching.verdicts()).toEqual(['readings proven']);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
    files.set('/gauge/sample', first.replace(/"signature": *"./, '"signature":"A'));
    expect(await watching.sees(files, { looks: 2 })).toEqual(['unreadable']);
  });
});

describe('a network that fails', () => {
  it('is no alarm: the monitor asks ever more seldom, and goes on', async () => {
    const watching = await watchingFirst(3);
    const { network, monitor, clock } = watching;
    network.sites.delete(BASE_URL);
    const waits: number[] = [];
    for (let look = 0; look < 8; look += 1) {
      await monitor.look();
      waits.push(Math.round((monitor.nextDue() - clock.now()) / 60_000));
      clock.ms = monitor.nextDue();
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60, 60, 60]);
    expect(watching.alarms()).toEqual([]);
    expect(monitor.exitCode).toBe(MONITOR_EXIT.undecided);
    expect(
      watching.lines.filter((line) => line.includes('says nothing about its log')),
    ).toHaveLength(1);
    expect(await watching.sees(filesOf(nth(honest, 6)))).toEqual([]);
    expect(monitor.exitCode).toBe(MONITOR_EXIT.well);
    expect(watching.lines.at(-1)).toContain('answers again, after 8 failed looks');
  });

  it.each<readonly [string, () => Response, RegExp]>([
    [
      'a redirect',
      () => Response.redirect('https://elsewhere.example/', 302),
      /answered 302; name/,
    ],
    ['a failure', () => new Response('', { status: 503 }), /answered 503/],
    ['an endless body', () => new Response(endless()), /longer than \d+ bytes/],
    ['a broken body', () => new Response(broken()), /the line went dead/],
  ])('%s is none', async (_, answer, words) => {
    const watching = await watchingFirst(2);
    watching.network.odd.set(`${BASE_URL}/log/checkpoint`, async () => answer());
    expect(await watching.sees(filesOf(nth(honest, 2)), { looks: 3 })).toEqual([]);
    expect(watching.status().addresses[BASE_URL]?.last_error).toMatch(words);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.undecided);
  });

  it('a service that asks to wait is asked no sooner, and never waits for more than a day', async () => {
    for (const [asked, minutes] of [
      ['7200', 120],
      ['99999999', 1440],
    ] as const) {
      const watching = await watchingFirst(1);
      const headers = { 'retry-after': asked };
      watching.network.odd.set(
        `${BASE_URL}/log/checkpoint`,
        async () => new Response('', { status: 429, headers }),
      );
      await watching.monitor.look();
      const wait = watching.monitor.nextDue() - watching.clock.now();
      expect(Math.round(wait / 60_000)).toBe(minutes);
    }
  });

  it('does not keep a fork from being proven that was seen before it failed', async () => {
    const watching = await watchingFirst(3);
    watching.network.odd.set(
      `${BASE_URL}/gauge/sample`,
      async () => new Response('', { status: 500 }),
    );
    expect(await watching.sees(filesOf(nth(other, 2)))).toEqual(['fork']);
    expect(watching.verdicts()).toEqual(['fork proven']);
  });

  it('a clock that is set back does not put the monitor to sleep', async () => {
    const watching = await watchingFirst(2);
    watching.clock.ms -= 400 * 86_400_000;
    const { asked } = watching.network;
    await watching.monitor.look({ isDueOnly: true });
    expect(watching.network.asked).toBeGreaterThan(asked);
  });
});

describe('a service that answers anything', () => {
  it('I70: ends no monitor, and makes it prove nothing', async () => {
    const watching = await watchingFirst(3);
    const honestFiles = filesOf(nth(honest, 4));
    const paths = [...honestFiles.keys()].filter((path) => !path.includes('/batches/'));
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let look = 0; look < 400; look += 1) {
      const files = new Map(honestFiles);
      const path = paths[random(paths.length)] ?? '';
      const bytes = Buffer.from(files.get(path) ?? '');
      const at = random(bytes.length);
      const odd = [
        Buffer.concat([bytes.subarray(0, at), Buffer.of(random(256)), bytes.subarray(at + 1)]),
        bytes.subarray(0, at),
        Buffer.concat([bytes, bytes]),
        Buffer.from('{"format":"signalpress-release/1","sequence":1e999}'),
        Buffer.alloc(0),
      ];
      files.set(path, odd[random(odd.length)] ?? null);
      await watching.sees(files, { minutes: 0.1 });
    }
    expect(watching.verdicts()).toEqual([]);
    expect(await watching.sees(honestFiles)).toEqual([]);
    expect(watching.monitor.exitCode).toBe(MONITOR_EXIT.well);
  });

  it('ends no monitor with an address that no log can be named by', async () => {
    const watching = await watchingFirst(1);
    const head = { base_url: 'https://shop.example/a+b' };
    const as_of = '2026-11-20T14:00:00Z';
    const odd = publish(nth(honest, 0), { taken: 500, as_of, head });
    const fresh = new Watching();
    expect(await fresh.sees(filesOf(odd), { looks: 2 })).toEqual(['unreadable']);
    expect(await watching.sees(filesOf(odd), { looks: 2 })).toEqual([]);
  });
});

describe('what a monitor remembers', () => {
  it('I70: survives a kill after each write, also in the middle of a line', async () => {
    const watching = await watchingFirst(3);
    appendFileSync(join(watching.folder, 'checkpoints.txt'), '{"seen_at":"2026-11-2');
    watching.reopened();
    expect(await watching.sees(filesOf(nth(honest, 4)))).toEqual([]);
    expect(watching.status()).toMatchObject({ tree_size: 5, checkpoints_kept: 4 });
    // The checkpoint was kept, and the kill came before the state.
    const state = readFileSync(join(watching.folder, 'state.json'));
    await watching.sees(filesOf(nth(honest, 5)));
    writeFileSync(join(watching.folder, 'state.json'), state);
    watching.reopened();
    expect(await watching.sees(filesOf(nth(honest, 5)))).toEqual([]);
    expect(await watching.sees(filesOf(nth(honest, 6)))).toEqual([]);
    expect(watching.status()).toMatchObject({ tree_size: 7, checkpoints_kept: 6 });
    // The evidence was kept, and the kill came before the state: the same file is found again.
    const before = readFileSync(join(watching.folder, 'state.json'));
    await watching.sees(filesOf(nth(other, 6)));
    writeFileSync(join(watching.folder, 'state.json'), before);
    watching.reopened();
    expect(await watching.sees(filesOf(nth(other, 6)))).toEqual(['fork']);
    expect(watching.verdicts()).toEqual(['fork proven']);
  });

  it('is not taken for another service, nor for another issuer, nor where it is damaged', async () => {
    const watching = await watchingFirst(2);
    expect(() => watching.reopenedWith({ addresses: [MIRROR] })).toThrow(
      'it is about https://shop.example',
    );
    expect(() => watching.reopenedWith({ issuers: [didOfSeed(9)] })).toThrow('does not believe');
    expect(() => watching.reopenedWith({ addresses: [BASE_URL, MIRROR] })).not.toThrow();
    writeFileSync(join(watching.folder, 'state.json'), '{}');
    expect(() => watching.reopened()).toThrow('not what this program remembers');
  });

  it('believes the first issuer where none was named, and says so', async () => {
    const watching = new Watching({ issuers: [] });
    expect(await watching.sees(filesOf(nth(honest, 0)))).toEqual([]);
    expect(watching.lines[0]).toContain(`no --issuer was given: ${didOfSeed(7)}`);
    const as_of = '2026-11-20T14:00:00Z';
    const next = publish(nth(honest, 0), { taken: 500, as_of, seed: 9 });
    expect(await watching.sees(filesOf(next), { looks: 2 })).toEqual(['unknown_key']);
  });

  it('I70: stays small in thousands of looks at a service that lies in each', async () => {
    const watching = await watchingFirst(1, [BASE_URL]);
    const shown = [...honest, ...other].map((release) => filesOf(release));
    for (let look = 0; look < 2000; look += 1) {
      watching.network.sites.set(BASE_URL, shown[look % shown.length] ?? new Map());
      watching.clock.ms += 300_000;
      await watching.monitor.look();
    }
    const size = (folder: string): number =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
    expect(size(watching.folder)).toBeLessThan(100_000);
    expect(watching.status().rounds).toBe(2001);
    expect(watching.verdicts()).toContain('fork proven');
    expect(watching.verdicts().every((each) => each.endsWith('proven'))).toBe(true);
  });
});

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
}

function broken(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => controller.error(new Error('the line went dead')),
  });
}
