import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { built } from './command-runs.ts';
import { makeFolder } from './snapshot-folder.ts';

/** Notes every module that is loaded. */
const LOAD = `import { appendFileSync } from 'node:fs';
export function load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); }`;
const REGISTER = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(LOAD)}`)});`;

/** What a built program loads beside Node itself, and how it ended. */
export function loadedModules(
  program: string,
  args: readonly string[],
): { readonly status: number | null; readonly modules: string[] } {
  const cwd = makeFolder();
  const [hook, notes] = [join(cwd, 'hook.mjs'), join(cwd, 'loaded.txt')];
  writeFileSync(hook, REGISTER);
  const env = { ...process.env, LOADED: notes };
  const { status } = spawnSync(process.execPath, ['--import', hook, built(program), ...args], {
    cwd,
    env,
  });
  const urls = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  return {
    status,
    modules: urls.filter((url) => !url.startsWith('node:') && !url.endsWith('hook.mjs')),
  };
}
