#!/usr/bin/env node
// Where the program begins. An old Node cannot read the sources behind this file: it would say SyntaxError, and not
// which Node is needed. So nothing is imported before the version is looked at, which is that of package.json.
const NEEDED = '20.19';

function isOlder(found: string, needed: string): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = needed.split('.').map(Number);
  return major < majorMin || (major === majorMin && minor < minorMin);
}

if (isOlder(process.versions.node, NEEDED)) {
  console.error(
    `signalpress-gate needs Node ${NEEDED} or newer, and this is ${process.versions.node}; install one from https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  import('./main.ts').catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
