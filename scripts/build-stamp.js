// Notes what a build was made of and what it wrote, so that no test runs an old one and nothing is built twice. It is plain
// JavaScript, since it also runs before anything is built, in the top folder:
//   node scripts/build-stamp.js write     is the last step of a build
//   node scripts/build-stamp.js problem   says what keeps tests from running what is built; nothing where they may
//   node scripts/build-stamp.js fresh     exits with 1 where there is something to build
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BUILD = 'build';
/** Digest of the sources of the programs, and of everything that a build reads and writes. */
const STAMPS = { sources: join(BUILD, '.sources'), whole: join(BUILD, '.whole') };

/** Folders whose sources a build compiles into programs. */
const PROGRAMS = ['compiler', 'gatekeeper', 'scripts', 'test/lab'];
const SOURCE = /(?<!\.test)\.(ts|js|json)$/;
/** What else a build follows from: what the lab imports of the tests, style sheets, documents, settings. */
const READ = ['compiler', 'gatekeeper', 'scripts', 'test'];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json'];
/** Documents beside those folders: they are pages of a shop. */
const DOCUMENTS = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'snapshots/README.md',
];
const INPUT = /(?<!\.test)\.(ts|js|json|css|md)$/;

/** SHA-256 over the paths and the bytes of files. */
function digestOf(paths) {
  const digest = createHash('sha256');
  for (const path of paths.sort()) {
    const bytes = readFileSync(path);
    digest.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  return digest.digest('hex');
}

const sourcesDigest = () =>
  digestOf(PROGRAMS.flatMap(filesBelow).filter((path) => SOURCE.test(path)));

function wholeDigest() {
  const read = READ.flatMap(filesBelow).filter((path) => INPUT.test(path));
  const inputs = digestOf([
    ...read,
    ...[...SETTINGS, ...DOCUMENTS].filter((path) => existsSync(path)),
  ]);
  // Hidden ones are notes of TypeScript, some of which other commands write, and these stamps.
  const outputs = filesBelow(BUILD).filter((path) => !path.startsWith(`${BUILD}/.`));
  const written = outputs.sort().map((path) => {
    const { size, mtimeMs } = statSync(path);
    return `${path} ${size} ${mtimeMs}`;
  });
  return `${inputs} ${createHash('sha256').update(written.join('\n')).digest('hex')}`;
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

const isStamped = (stamp, digest) => existsSync(stamp) && readFileSync(stamp, 'utf8') === digest();

function problem() {
  if (!existsSync(STAMPS.sources)) return 'There is no whole build; run npm run build';
  if (isStamped(STAMPS.sources, sourcesDigest)) return '';
  return 'The build is older than its sources; run npm run build';
}

switch (process.argv[2]) {
  case 'write':
    writeFileSync(STAMPS.sources, sourcesDigest());
    writeFileSync(STAMPS.whole, wholeDigest());
    break;
  case 'problem':
    process.stdout.write(problem());
    break;
  case 'fresh':
    process.exitCode = isStamped(STAMPS.whole, wholeDigest) && problem() === '' ? 0 : 1;
    break;
  default:
    throw new RangeError('Cannot stamp the build: say write, problem or fresh');
}
