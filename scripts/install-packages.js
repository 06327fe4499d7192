// Installs the packages of folders of tests, as their lock files say, unless that was done since: npm writes its own copy
// of the lock file last. Plain JavaScript, since it needs no build.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

for (const folder of process.argv.slice(2)) {
  if (!isInstalled(folder)) install(folder);
}

function isInstalled(folder) {
  const copy = statSync(join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false });
  return copy !== undefined && copy.mtimeMs > statSync(join(folder, 'package-lock.json')).mtimeMs;
}

function install(folder) {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, ...flags], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
