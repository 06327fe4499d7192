// Ends the build in one sentence on a Node that is too old; imports nothing of ours, which such a one could not even load.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Why this version does not do; null for one that does. `wanted` is `>=20.19`, as package.json says it. */
export function nodeProblem(version: string, wanted: string): string | null {
  const [major = 0, minor = 0] = numbers(version);
  const [majorMin = 0, minorMin = 0] = numbers(wanted);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return null;
  return `Cannot run on Node "${version}": ${majorMin}.${minorMin} or newer is needed; install one from https://nodejs.org, then start again`;
}

const numbers = (text: string): number[] =>
  text
    .replace(/^[^0-9]+/, '')
    .split('.')
    .map(Number);

const [, main] = process.argv;
if (main !== undefined && import.meta.url === pathToFileURL(main).href) {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const problem = nodeProblem(process.versions.node, engines.node);
  if (problem !== null) {
    console.error(problem);
    process.exitCode = 1;
  }
}
