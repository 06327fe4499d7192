// TypeScript compiles again only what changed. It trusts its notes of the last build and never looks at the files that it
// wrote, so a file that was deleted or edited in build/ would stay so. This runs before it, and removes the notes of a
// build that is no longer what was written: then everything is compiled again. It is plain JavaScript, since it runs
// before anything is built.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'build';

/** The notes of each compile (scripts/tsconfig.json, compiler/client/tsconfig.json), and how the files end that it writes. */
const NOTES = [
  ['.tsbuildinfo', '.js'],
  ['.tsbuildinfo-client', '.d.ts'],
];

for (const [name, ending] of NOTES) {
  const notes = join(FOLDER, name);
  if (!isWhole(notes, ending)) rmSync(notes, { force: true });
}

/** TypeScript writes its notes last, so a file that is newer than they are was written by something else. */
function isWhole(notes, ending) {
  try {
    const { mtimeMs } = statSync(notes);
    const { fileNames } = JSON.parse(readFileSync(notes, 'utf8'));
    return ownSources(fileNames).every((source) => {
      const output = join(FOLDER, source.replace(/\.ts$/, ending));
      return statSync(output).mtimeMs <= mtimeMs;
    });
  } catch {
    return false;
  }
}

/** Sources of this repository, by their paths in it; the notes name them from build/. */
function ownSources(fileNames) {
  return fileNames
    .filter((name) => /^\.\.\/(?!\.\.\/)(?!.*node_modules\/).*(?<!\.d)\.ts$/.test(name))
    .map((name) => name.slice('../'.length));
}
