import { isoTime } from '../../compiler/contract/iso-time.ts';
import { keysInWords } from '../../compiler/contract/key-standing.ts';
import { isStale } from '../../compiler/contract/release.ts';
import { settlementOf } from '../config/config.ts';
import { testPaymentsFault } from '../config/test-payments.ts';
import { refuseOlder } from '../release/newest-served.ts';
import { subscriptionWarnings } from '../release/offers.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Files whose bytes are read and hashed, spread evenly over the list. */
const FILES_SAMPLED = 200;
/** Damaged files that are named. */
const DAMAGED_SHOWN = 3;

/** Opens the release as the start does: head, signature, tables, list of files, issuer; then reads a sample of files. */
export async function releaseCheck(examined: Examined): Promise<Finding[]> {
  const { config, clock } = examined;
  const release = await examined.release();
  refuseOlder(config.stateDir, release);
  const { head, files } = release;
  const opened = ok(
    `release ${head.sequence} as of ${head.as_of}, ${files.size} files, issued by ${head.issuer_did}`,
  );
  const keys = keysInWords(release.keys, isoTime(clock()));
  return [
    opened,
    ...(keys === null ? [] : [ok(keys)]),
    await sampleFinding(release),
    ...subscriptionWarnings(release.offers, config.tokenSecret !== null).map((text) =>
      warning(text, 'set the secret, or leave subscriptions out of the release'),
    ),
    ...(isStale(head, clock()) ? [staleFinding(head.valid_until)] : []),
    ...freeSaleFindings(examined, release),
  ];
}

async function sampleFinding(release: ReleaseIndex): Promise<Finding> {
  const { files } = release;
  const step = Math.max(1, files.size / FILES_SAMPLED);
  const count = Math.min(files.size, FILES_SAMPLED);
  const sample = Array.from({ length: count }, (_, at) => files.pathAt(Math.floor(at * step)));
  const damaged: string[] = [];
  for (const path of sample) {
    const isWhole = await release
      .body(path, () => {})
      .then(
        () => true,
        () => false,
      );
    if (!isWhole) damaged.push(path);
  }
  if (damaged.length === 0) return ok(`${sample.length} files were read and have their hashes`);
  return failed(
    `${damaged.length} of ${sample.length} files are missing or changed: ${damaged.slice(0, DAMAGED_SHOWN).join(', ')}`,
    'restore the data folder, or compile again with --full',
  );
}

function staleFinding(until: string | undefined): Finding {
  return warning(
    `the release promised a newer one by ${until}`,
    'check the run that publishes; the old release is served until then',
  );
}

/** The release may name a public address where no setting does. */
function freeSaleFindings({ config }: Examined, { head }: ReleaseIndex): Finding[] {
  if (settlementOf(config) !== 'test') return [];
  const fault = testPaymentsFault({ ...config, baseUrl: config.baseUrl ?? head.base_url });
  return fault === null ? [] : [failed(fault, 'correct the setting that it names')];
}
