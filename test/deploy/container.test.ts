import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { envName, SETTING_NAMES } from '../../gatekeeper/settings/settings.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { changed } from './balancer.ts';
import { freePorts, hasLogged } from './gate-process.ts';

const PACKAGES_MB_MAX = 60;
/** The user of the image. */
const NOBODY = 1000;
const dockerfile = changed('Dockerfile', []);

/** Instructions of the last stage, or of the one with a name. */
function stage(name: string | null): readonly Instruction[] {
  const stages: { name: string | null; instructions: Instruction[] }[] = [];
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const [, label = null] = / AS (\S+)$/.exec(instruction.toString()) ?? [];
      stages.push({ name: label, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages.find((one) => one.name === name)?.instructions ?? [];
}

const argumentsOf = (instructions: readonly Instruction[], keyword: string): string[] =>
  instructions
    .filter((one) => one.getKeyword() === keyword)
    .map((one) => one.getRawArgumentsContent()?.replace(/\\\n */g, '') ?? '');

describe('Dockerfile', () => {
  const faults = (text: string): string[] => validate(text).map(({ message }) => String(message));

  it('is valid, and a wrong one is noticed', () => {
    expect(faults(dockerfile)).toEqual([]);
    const wrong = dockerfile.replace('EXPOSE 4021', 'EXPOSE http').replace('USER 1', 'USE 1');
    expect(faults(wrong)).toHaveLength(2);
  });

  it('pins the Node that everything is tested with, in every stage', () => {
    const bases = [...dockerfile.matchAll(/^FROM node:(\S+)-bookworm-slim/gm)].map(
      ([, tag]) => tag,
    );
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^20\.[0-9]+\.[0-9]+$/);
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(bases.length);
  });

  it('builds as everybody does', () => {
    expect(argumentsOf(stage('build'), 'RUN')).toEqual([
      'npm ci --ignore-scripts --no-audit --no-fund',
      'npm run build',
    ]);
  });

  it('takes neither keys nor what was built elsewhere', () => {
    const ignored = changed('Dockerfile.dockerignore', []).split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/*.key', 'build', '**/node_modules']));
  });

  describe('its steps', () => {
    const root = mkdtempSync(join(tmpdir(), 'signalpress-image-'));
    const app = join(root, 'app');
    const final = stage(null);

    const run = (command: string): void => {
      execFileSync('sh', ['-ec', command], { cwd: app, stdio: 'pipe' });
    };

    beforeAll(() => {
      // The user of the image has to come through.
      for (const path of [root, tmpdir()]) chmodSync(path, 0o755);
      mkdirSync(app);
      for (const name of ['package.json', 'package-lock.json']) cpSync(name, join(app, name));
      argumentsOf(stage('packages'), 'RUN').forEach(run);
      argumentsOf(final, 'COPY').forEach(copied);
      argumentsOf(final, 'RUN').forEach((command) => {
        run(command.replaceAll(' /', ` ${root}/`));
      });
    });

    /** What the last stage takes over; the packages lie where they belong already. */
    function copied(words: string): void {
      const [source = '', target = ''] = words.split(' ');
      if (source.startsWith('/app/')) expect(existsSync(join(app, target))).toBe(true);
      else {
        const path = source.replace(/^\/src\//, '');
        cpSync(path, join(app, target === './' ? path : target), { recursive: true });
      }
    }

    it('leave packages that are small', () => {
      const [kilobytes = ''] = execFileSync('du', ['-sk', join(app, 'node_modules')], {
        encoding: 'utf8',
      }).split('\t');
      expect(Number(kilobytes) / 1024).toBeLessThan(PACKAGES_MB_MAX);
    });

    it.skipIf(process.getuid?.() !== 0)(
      'run as nobody in particular, and look after their health (needs root)',
      async () => {
        writeTinyRelease(join(root, 'data'));
        execFileSync('chmod', ['-R', 'a+rX,a-w', app, join(root, 'data')]);
        const [port = 0] = await freePorts(1);
        const env = environment(port);
        const [entry = ''] = argumentsOf(final, 'ENTRYPOINT');
        const [, ...args] = z.array(z.string()).parse(JSON.parse(entry));
        const healthy = (): number | null => check(port);
        expect(healthy()).toBe(1);
        const gate = spawn(process.execPath, args, {
          cwd: app,
          env,
          uid: NOBODY,
          gid: NOBODY,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        try {
          await hasLogged(gate, 'listens on');
          expect(healthy()).toBe(0);
          expect((await fetch(`http://127.0.0.1:${port}/gauge/sample`)).status).toBe(200);
        } finally {
          gate.kill('SIGKILL');
        }
      },
    );

    /** The variables of the image, with folders and an address of this machine. */
    function environment(port: number): Record<string, string> {
      const [words = ''] = argumentsOf(final, 'ENV');
      const given = words.split(/\s+/).map((word) => word.split('=') as [string, string]);
      const env = Object.fromEntries(
        given.map(([name, value]) => [name, value.replace(/^\//, `${root}/`)]),
      );
      expect(env.SIGNALPRESS_HOST).toBe('0.0.0.0');
      const here = { SIGNALPRESS_HOST: '127.0.0.1', SIGNALPRESS_PORT: String(port) };
      return { ...env, ...here, SIGNALPRESS_TEST_PAYMENTS: '1' };
    }

    function check(port: number): number | null {
      const [words = ''] = argumentsOf(final, 'HEALTHCHECK');
      const [, command = ''] = /CMD (\[.*\])$/.exec(words) ?? [];
      const [, ...args] = z.array(z.string()).parse(JSON.parse(command));
      const own = args.map((argument) => argument.replace(':4021/', `:${port}/`));
      expect(own).not.toEqual(args);
      return spawnSync(process.execPath, own).status;
    }
  });
});

const serviceSchema = z.object({
  environment: z.record(z.string(), z.string()).default({}),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  stop_grace_period: z.string().default('10s'),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  networks: z.object({
    shop: z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }) }),
  }),
});

describe('compose.yaml', () => {
  const { services, networks } = composeSchema.parse(
    parse(changed('compose.yaml', []), { merge: true }),
  );
  const gates = ['gate-1', 'gate-2'].map((name) => serviceSchema.parse(services[name]));

  it('gives gatekeepers settings that exist, and the addresses of their own network', () => {
    const known = SETTING_NAMES.map(envName);
    for (const { environment } of gates) {
      expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
      expect(environment.SIGNALPRESS_TRUSTED_PROXY).toBe(networks.shop.ipam.config[0]?.subnet);
    }
  });

  it('lets them write into their state alone', () => {
    for (const { read_only, cap_drop, volumes } of gates) {
      expect([read_only, cap_drop]).toEqual([true, ['ALL']]);
      const writable = volumes.filter((volume) => !volume.endsWith(':ro'));
      expect(writable).toEqual([expect.stringMatching(/^gate-[12]:\/state$/)]);
    }
  });

  it('gives the key to the publisher alone, which writes releases and readings', () => {
    const holders = Object.entries(services).filter(([, one]) =>
      one.secrets.includes('issuer-key'),
    );
    expect(holders.map(([name]) => name)).toEqual(['publisher']);
    const { read_only, cap_drop, volumes } = serviceSchema.parse(services.publisher);
    expect([read_only, cap_drop]).toEqual([true, ['ALL']]);
    const writable = volumes.filter((volume) => !volume.endsWith(':ro'));
    expect(writable).toEqual(['../../dist-data:/data', 'readings:/readings']);
  });

  it('gives a stop more time than the gatekeeper takes', () => {
    for (const { environment, stop_grace_period } of gates) {
      const takes = Number(environment.SIGNALPRESS_DRAIN_SECONDS) + 9;
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(takes);
    }
  });

  it('names the servers that HAProxy asks, and files that exist', () => {
    const asked = [...changed('haproxy.cfg', []).matchAll(/^ +server \S+ ([a-z0-9-]+):/gm)];
    expect(asked.map(([, name]) => name)).toEqual(['gate-1', 'gate-2']);
    const mounted = services.haproxy?.volumes.map((volume) => volume.split(':')[0] ?? '') ?? [];
    const folder = resolve('gatekeeper/deploy');
    expect(mounted.filter((path) => existsSync(join(folder, path)))).toEqual(['./haproxy.cfg']);
  });

  const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
  it.skipIf(!hasCompose)('is what Compose takes (needs docker compose)', () => {
    const args = [
      'compose',
      '-f',
      'gatekeeper/deploy/compose.yaml',
      'config',
      '--quiet',
      '--no-env-resolution',
    ];
    expect(spawnSync('docker', args, { encoding: 'utf8' }).stderr).toBe('');
  });
});
