import { spawnSync } from 'node:child_process';
import {
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headHash, OFFERS_PATH } from '../../../../gatekeeper/heart/release/open-release.ts';
import type { Config } from '../../../../gatekeeper/settings/config.ts';
import { type Gatekeeper, startGatekeeper } from '../../../../gatekeeper/start.ts';
import { built } from '../../../command-runs.ts';
import { tinyConfig } from '../../../gatekeeper/tiny-gate.ts';
import {
  TINY_NOW,
  tinyDataDir,
  tinyFilePath,
  tinyFiles,
  tinyKey,
  writeTinyRelease,
} from '../../../gatekeeper/tiny-release.ts';

const NOTE = 'newest-release.json';
type Entry = Readonly<Record<string, unknown>>;

/** What each release lacks, so that no two of them share a manifest. */
const LACKS = ['none', 'us-denver', 'AAPL', 'us-'];

let dataDir: string;
let config: Config;
const running: Gatekeeper[] = [];
beforeEach(() => {
  dataDir = tinyDataDir();
  config = tinyConfig(dataDir);
});
afterEach(async () => {
  for (const gate of running.splice(0)) await gate.close();
});

/** Publishes a release behind another one, and makes it the newest; answers its folder. */
function publish(sequence: number, before: string | null, more: object = {}): string {
  const lacks = LACKS[sequence % LACKS.length] ?? '';
  const kept = [...tinyFiles()].filter(([path]) => !path.includes(lacks));
  const previous = before === null ? null : hashAt(before);
  return writeTinyRelease(dataDir, {
    sequence,
    files: new Map(kept),
    head: { previous },
    ...more,
  });
}

function hashAt(root: string): string {
  return headHash(JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')));
}

/** Releases 3, 4 and 5, each behind the one before it. */
function published(): readonly [string, string, string] {
  const third = publish(3, null);
  const fourth = publish(4, third);
  return [third, fourth, publish(5, fourth)];
}

/** Where the manifest of a release stands, which is read at each start. */
function manifest(root: string): string {
  return tinyFilePath(root, OFFERS_PATH);
}

async function servedBy({ url }: Gatekeeper): Promise<number> {
  const health = (await (await fetch(`${url}/healthz`)).json()) as Health;
  return health.release.sequence;
}

interface Health {
  readonly release: { readonly sequence: number };
}

function point(root: string): void {
  symlinkSync(join('releases', basename(root)), join(dataDir, 'next'));
  renameSync(join(dataDir, 'next'), join(dataDir, 'current'));
}

async function start() {
  const logged: Entry[] = [];
  const options = { clock: () => TINY_NOW, log: (entry: Entry) => logged.push(entry) };
  const gate = await startGatekeeper(config, { ...options, pollMs: 3_600_000 });
  running.push(gate);
  const health = (await (await fetch(`${gate.url}/healthz`)).json()) as Health;
  const refused = logged.filter(({ event }) => event === 'release_refused');
  return { gate, health, refused, serving: health.release.sequence };
}

/** Serves what there is once, so that the state folder knows it. */
async function servedOnce(): Promise<number> {
  const { gate, serving } = await start();
  running.splice(0);
  await gate.close();
  return serving;
}

const refusal = async (): Promise<string> =>
  start().then(
    ({ serving }) => `serves ${serving}`,
    (error: Error) => `${error.name}: ${error.message}`,
  );

const DAMAGES: readonly (readonly [string, RegExp, (root: string) => void])[] = [
  ['a file', /"[^"]*manifest.json" is missing/, (root) => rmSync(manifest(root))],
  ['a cut file', /"[^"]*manifest.json"/, (root) => truncateSync(manifest(root), 9)],
  ['its list', /files.txt differs/, (root) => writeFileSync(join(root, 'files.txt'), 'x')],
  ['no list', /files.txt/, (root) => rmSync(join(root, 'files.txt'))],
  [
    'its head',
    /release.json is not strict JSON/,
    (root) => truncateSync(join(root, 'release.json'), 99),
  ],
  ['a flipped head', /signature is not that of its issuer/, (root) => flipped(root)],
  ['its folder', /"releases\/000005-1" is missing/, (root) => rmSync(root, { recursive: true })],
];

function flipped(root: string): void {
  const path = join(root, 'release.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('Tiny Issuer', 'Tiny issuer'));
}

describe('a start on a damaged release', () => {
  it.each(DAMAGES)(
    'I26: serves the newest whole one beside it, and says so: %s',
    async (_, words, damage) => {
      const [, , fifth] = published();
      expect(await servedOnce()).toBe(5);
      const aside = `${dataDir}-aside`;
      cpSync(dataDir, aside, { recursive: true });
      damage(fifth);
      const { gate, serving, refused, health } = await start();
      expect(serving).toBe(4);
      expect(refused).toEqual([
        expect.objectContaining({
          state: 'publishes',
          ok: false,
          release: basename(fifth),
          serving: 4,
          error: expect.stringMatching(words),
        }),
      ]);
      expect(refused[0]?.error).toMatch(/; (restore|compile)/);
      expect(health).toMatchObject({
        serves: { ok: true },
        publishes: { ok: false, reasons: [{ reason: 'release_refused' }] },
      });
      // What was served is not forgotten.
      const note = readFileSync(join(config.stateDir, NOTE), 'utf8');
      expect(JSON.parse(note)).toMatchObject({ sequence: 5 });
      // The damaged one is restored.
      for (const name of ['files', 'releases'])
        cpSync(join(aside, name), join(dataDir, name), { recursive: true, force: true });
      point(fifth);
      await gate.checkRelease();
      expect(await (await fetch(`${gate.url}/healthz`)).json()).toMatchObject({
        release: { sequence: 5 },
        publishes: { ok: true },
      });
    },
  );

  it('goes as far back as it has to, at each start anew, and takes only what is newer than it served', async () => {
    const [third, fourth, fifth] = published();
    await servedOnce();
    for (const root of [fourth, fifth]) rmSync(manifest(root));
    for (let time = 0; time < 2; time += 1) {
      const { gate, serving, refused } = await start();
      expect([serving, refused.length]).toEqual([3, 1]);
      await gate.close();
      running.splice(0);
    }
    const { gate } = await start();
    publish(4, third);
    await gate.checkRelease();
    expect(await servedBy(gate)).toBe(3);
    publish(6, fifth);
    await gate.checkRelease();
    expect(await servedBy(gate)).toBe(6);
  });

  it('serves what history proves where nothing was served before', async () => {
    const [, , fifth] = published();
    rmSync(manifest(fifth));
    expect((await start()).serving).toBe(4);
  });

  it('I26: serves nothing that history does not prove', async () => {
    const third = publish(3, null);
    // Whole and signed, but no later head names it: it was never published, or belongs to another history.
    publish(4, third);
    const fifth = publish(5, third);
    await servedOnce();
    rmSync(manifest(fifth));
    expect((await start()).serving).toBe(3);
    rmSync(third, { recursive: true });
    expect(await refusal()).toMatch(/^DamagedReleaseError: Cannot serve release 5: "/);
  });

  it('I26: goes behind what was served only by the chain from there', async () => {
    const [third, fourth, fifth] = published();
    await servedOnce();
    // Somebody leads back to an older release, and damages it, so that it proves a still older one.
    rmSync(manifest(fourth));
    rmSync(fifth, { recursive: true });
    const note = join(config.stateDir, NOTE);
    const { previous: _, ...old } = JSON.parse(readFileSync(note, 'utf8'));
    writeFileSync(note, JSON.stringify(old));
    point(fourth);
    expect(await refusal()).toMatch(/^DamagedReleaseError/);
    // Of an older release that is whole nobody is asked to serve less.
    point(third);
    expect(await refusal()).toMatch(/older than release 5, which was already served/);
  });

  it('I26: serves another issuer as little as ever', async () => {
    const third = publish(3, null, { seed: 2 });
    const fourth = publish(4, third);
    config = { ...config, issuerDid: tinyKey(1).did };
    rmSync(manifest(fourth));
    expect(await refusal()).toMatch(/^DamagedReleaseError/);
  });

  it('I47: refuses in one sentence where none is whole, without a stack', () => {
    const roots = published();
    for (const root of roots) rmSync(manifest(root));
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_TEST_PAYMENTS: '1',
    };
    const options = { cwd: tinyDataDir(), env, encoding: 'utf8' } as const;
    const program = built('gatekeeper/signalpress-gate.js');
    const { status, stderr } = spawnSync(process.execPath, [program], options);
    expect([status, stderr.trim().split('\n')]).toEqual([
      1,
      [
        expect.stringMatching(
          /^Cannot serve release 5: "[^"]*manifest.json" is missing or damaged; restore /,
        ),
      ],
    ]);
  });
});
