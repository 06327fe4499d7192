import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_NAME } from '../config/load-config.ts';
import { JOURNAL_NAME } from '../journal/journal-file.ts';
import { relayerKey } from '../money/address.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, failure, ok, warning } from './finding.ts';

/** What others than the owner of a file may do. */
const READ = 0o044;
const WRITE = 0o022;

/** Whether others can read what is secret, or change what this program runs. */
export async function secretsCheck({ config }: Examined): Promise<Finding[]> {
  const { relayerKey: key, facilitatorAuthModule: module, stateDir } = config;
  const journal = join(stateDir, JOURNAL_NAME);
  const findings = [
    ...(key === null ? [] : keyFinding(key)),
    ...(module === null ? [] : others(module, { bits: WRITE, word: 'change', to: 'go-w' })),
    ...others(CONFIG_NAME, { bits: WRITE, word: 'change', to: 'go-w' }),
    ...others(journal, { bits: READ, word: 'read', to: 'go-rwx' }),
    ...others(stateDir, { bits: WRITE, word: 'write into', to: 'go-w' }),
  ];
  return findings.length > 0 ? findings : [ok('files with secrets are for their owner alone')];
}

/** The start refuses a key file that others may read, and says so. */
function keyFinding(key: string): Finding[] {
  try {
    relayerKey(key);
    return [];
  } catch (error) {
    return [failure(error)];
  }
}

interface FileRight {
  readonly bits: number;
  /** What others may do with the file. */
  readonly word: string;
  /** Mode for chmod. */
  readonly to: string;
}

function others(path: string, { bits, word, to }: FileRight): Finding[] {
  if (!existsSync(path) || (statSync(path).mode & bits) === 0) return [];
  const [text, remedy] = [`others may ${word} "${path}"`, `run: chmod ${to} "${path}"`];
  return [bits === WRITE ? failed(text, remedy) : warning(text, remedy)];
}
