import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  type KnownSources,
  runVerifyEvidence,
  type Witnesses,
} from '../compiler/evidence/verify-evidence.ts';
import { Archive, type Archived, keepPayload } from '../compiler/fetch/archive.ts';
import { givenPayload, importDisk } from '../compiler/import/import-command.ts';
import type { Source } from '../compiler/import/source.ts';
import { sourceOf } from '../compiler/import/sources.ts';
import type { Reading } from '../compiler/stages/intake/reading.ts';

/** The feed that the quick start imports; the development dependency vega-datasets ships it unchanged. */
const FEED = join('node_modules', 'vega-datasets', 'data', 'earthquakes.json');
const SOURCE = 'usgs-earthquakes';

/** What came of one attempt to lead a body back. */
interface LeadBack {
  readonly title: string;
  readonly isShown: boolean;
  readonly detail: string;
}

/**
 * Leads a bought body back to the genuine feed: as it is, with one byte of the feed changed, and with one rule of its
 * importer changed. Throws where the first fails or one of the others does not.
 */
export async function leadBack(body: string, issuer: string): Promise<LeadBack[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-archive-'));
  try {
    const archive = new Archive(folder);
    const options = { source: SOURCE, file: FEED, out: folder };
    const archived = await keepPayload(archive, SOURCE, givenPayload(options, importDisk));
    const tried = async (title: string, known: KnownSources = sourceOf): Promise<LeadBack> => {
      const witnesses = { archive, known };
      return { title, ...(await found(body, { issuer, witnesses })) };
    };
    const attempts = [
      await tried('the payload as it was imported'),
      await tried('one rule of the importer changed: every figure one more', oneMore),
    ];
    changeByte(archive, archived);
    attempts.push(await tried('one byte of the payload changed'));
    const isAsWanted = attempts.every(({ isShown }, at) => isShown === (at === 0));
    if (isAsWanted) return attempts;
    throw new Error(`Cannot finish the demo: evidence ${JSON.stringify(attempts)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface LeadBackBody {
  readonly issuer: string;
  readonly witnesses: Witnesses & { readonly archive: Archive };
}

async function found(body: string, { issuer, witnesses }: LeadBackBody) {
  const { exitCode, text } = await runVerifyEvidence('-', {
    issuer: [issuer],
    archive: witnesses.archive.folder,
    witnesses,
    json: true,
    readStdin: () => Buffer.from(body),
  });
  const { evidence } = JSON.parse(text) as { evidence: readonly { readonly detail: string }[] };
  return { isShown: exitCode === 0, detail: evidence.map(({ detail }) => detail).join('; ') };
}

/** The importer with another rule, which its version does not tell. */
function oneMore(id: string): Source {
  const source = sourceOf(id);
  return {
    ...source,
    read: (payload) => {
      const imported = source.read(payload);
      const readings = [...imported.readings].map(
        ([signal, list]) => [signal, list.map(withOneMore)] as const,
      );
      return { ...imported, readings: new Map(readings) };
    },
  };
}

function withOneMore(reading: Reading): Reading {
  const current = Object.entries(reading.current).map(
    ([name, value]) => [name, typeof value === 'number' ? value + 1 : value] as const,
  );
  return { ...reading, current: Object.fromEntries(current) };
}

function changeByte(archive: Archive, { source, payload_day, sha256 }: Archived): void {
  const path = join(archive.folder, source, payload_day, `${sha256}.gz`);
  const bytes = gunzipSync(readFileSync(path));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, gzipSync(bytes));
}
