// A Node that is too old must be able to read this file: no imports, and no newer syntax.

/** The oldest Node that runs the programs, as `engines` of package.json says it. */
const NEEDED = '20.19';

/** Why a program does not run on this version of Node, as `process.versions.node` says it; null when it does. */
export function nodeFault(program: string, version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NEEDED.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return null;
  return `${program} needs Node ${NEEDED} or newer, but this is ${version}; install one from https://nodejs.org`;
}
