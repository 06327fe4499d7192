import { paidNetworks } from '../config/config.ts';
import { journalFacts } from '../journal/with-journal.ts';
import { clockFailure } from '../money/clock-guard.ts';
import { dateOf } from './ask.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, failure, ok, skipped, warning } from './finding.ts';

/** A `Date` header has whole seconds and comes after a way through the network. */
const SKEW_MS_OK = 5000;
/** Buyers sign windows of some minutes that begin with their own clock. */
const SKEW_MS_MAX = 60_000;

/** Compares the clock with the newest time in the journal, and with those whom the settings name. */
export async function clockCheck(examined: Examined): Promise<Finding[]> {
  return Promise.all([journalFinding(examined), ...remoteFindings(examined)]);
}

async function journalFinding({ config, clock }: Examined): Promise<Finding> {
  const facts = await journalFacts(config);
  if (facts === null) return skipped('no journal to compare the clock with');
  const wrong = clockFailure(clock(), facts.newestMs);
  if (wrong !== null) return failure(wrong);
  return ok(`${new Date(clock()).toISOString()} is not before the newest time in the journal`);
}

function remoteFindings(examined: Examined): Promise<Finding>[] {
  const { facilitatorUrls } = examined.config;
  const nodes = paidNetworks(examined.config).flatMap(({ rpcUrl }) => rpcUrl ?? []);
  const asked = facilitatorUrls.map((url) => `${url.replace(/\/$/, '')}/supported`);
  return [...asked, ...nodes].map((url) => skewFinding(url, examined));
}

async function skewFinding(url: string, { ask, clock }: Examined): Promise<Finding> {
  const { host } = new URL(url);
  const before = clock();
  const date = dateOf(await ask(url));
  if (date === null) return skipped(`${host} told no time`);
  // The answer was made between the two readings.
  const skew = Math.round(nearest(date, before, clock()) / 1000);
  if (Math.abs(skew) * 1000 <= SKEW_MS_OK) return ok(`within ${SKEW_MS_OK / 1000} s of ${host}`);
  const text = `${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} the clock of ${host}`;
  const remedy = 'set the clock of this machine, for example with chrony or systemd-timesyncd';
  return Math.abs(skew) * 1000 > SKEW_MS_MAX ? failed(text, remedy) : warning(text, remedy);
}

/** How far a clock that was read twice is ahead of a time in between; 0 when that lies between them. */
function nearest(date: number, before: number, after: number): number {
  if (date < before) return before - date;
  return date > after ? after - date : 0;
}
