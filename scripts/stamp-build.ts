// Notes which sources the build was made of, so that no test runs an old one. It is the last step of a build.
import { writeFileSync } from 'node:fs';
import { sourcesDigest, stampPath } from './sources-digest.ts';

writeFileSync(stampPath('.'), sourcesDigest('.'));
