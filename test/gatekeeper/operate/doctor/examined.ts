import { request } from 'node:http';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../../gatekeeper/heart/release/open-release.ts';
import type {
  AskWeb,
  Examined,
  Finding,
  WebAnswer,
} from '../../../../gatekeeper/operate/doctor/check.ts';
import type { Config } from '../../../../gatekeeper/settings/config.ts';
import { tinyConfig } from '../../tiny-gate.ts';
import { TINY_NOW, tinyData } from '../../tiny-release.ts';

const GIGABYTE = 1e9;

/** What the checks look at, over a tiny release: all is well unless a test says otherwise. */
export function examined({ config = {}, ...other }: Parts = {}): Examined {
  const dataDir = tinyData();
  const all = { ...tinyConfig(dataDir), ...config };
  return {
    config: all,
    clock: () => TINY_NOW,
    logMemory: null,
    ignored: [],
    release: () => openRelease({ ...all, source: folderSource(all.dataDir) }),
    node: async () => null,
    ask: async () => ({ code: 'ENOTFOUND' }),
    space: () => ({ free: 50 * GIGABYTE, total: 100 * GIGABYTE, isLasting: true }),
    ...other,
  };
}
type Parts = Partial<Omit<Examined, 'config'>> & { readonly config?: Partial<Config> };

/** `state: detail` of each finding. */
export function reported(findings: readonly Finding[]): string[] {
  return findings.map(({ state, detail }) => `${state}: ${detail}`);
}

/** An answer of another service. */
export function answer(
  status: number,
  text = '',
  headers: Readonly<Record<string, string>> = {},
): WebAnswer {
  return { status, headers, text };
}

/** Stands for a proxy in front of a port of this machine, which may change headers and the target. */
export function proxyTo(port: number, change: Change = {}): AskWeb {
  return (url, given = {}) => {
    const { host, pathname, search } = new URL(url);
    const headers: Record<string, string> = { host, ...given, ...change.headers };
    for (const name of change.lost ?? []) delete headers[name];
    const path = change.path ?? pathname + search;
    return new Promise((resolve) => {
      const asked = request({ host: '127.0.0.1', port, path, headers, setHost: false });
      asked.on('error', () => resolve(answer(502)));
      asked.on('response', (response) => {
        response.resume();
        resolve(answer(response.statusCode ?? 0));
      });
      asked.end();
    });
  };
}
interface Change {
  readonly headers?: Readonly<Record<string, string>>;
  readonly lost?: readonly string[];
  readonly path?: string;
}
