import type { CampaignOptions, CampaignReport } from './run-campaign.ts';

/** Figures that must be 0, with the words that stand beside them. */
const ZEROS: readonly (readonly [string, (report: CampaignReport) => number | bigint])[] = [
  ['charged without data', (report) => report.chargedWithoutData],
  ['data without charge', (report) => report.dataWithoutCharge],
  ['charged twice', (report) => report.chargedTwice],
  ['charged late', (report) => report.lateCharges],
  ['second resources opened by one payment', (report) => report.secondResources],
  ['deliveries of one payment that differ', (report) => report.differentBodies],
  ['receipts that name another transaction', (report) => report.wrongReceipts],
  ['purchases without an end', (report) => report.unfinished],
  ['differences between journal and chain', (report) => report.journalDifferences],
  ['payments that the journal leaves open', (report) => report.journalOpen],
  ['units between payee and journal', (report) => report.balanceDifference],
  ['bytes delivered to the chain reader', ({ reading }) => reading.bytes],
  ['rows of strangers without money', ({ strangers }) => strangers.rows],
  ['their settlements', ({ strangers }) => strangers.settlements],
  ['their deliveries', ({ strangers }) => strangers.delivered],
  ['settlements whose request the chain reader found out', ({ reading }) => reading.toldApart],
];

export function isClean(report: CampaignReport): boolean {
  return ZEROS.every(([, figure]) => BigInt(figure(report)) === 0n);
}

/** What a campaign showed, for people. */
export function closingReport(
  { seed, purchases, settler, journal }: Omit<CampaignOptions, 'progress'>,
  report: CampaignReport,
): string {
  const manners: Record<string, number> = {};
  for (const { manner } of report.stories) manners[manner] = (manners[manner] ?? 0) + 1;
  const outages = report.stories.reduce((sum, story) => sum + story.outages, 0);
  const lines = [
    `payment campaign: ${purchases} purchases, seed ${seed}, settled by ${settler}, journal ${journal}, ${report.seconds.toFixed(0)} s`,
    `  delivered ${report.delivered}, refused ${report.refused}, transfers on chain ${report.transfers}`,
    `  kills ${report.kills}, and ${report.databaseKills} of the database by itself, releases published ${report.releases}, outages seen by clients ${outages}`,
    `  buyers who went away and bought again ${report.left}, who came back after the last kill ${report.stories.filter(({ cameBack }) => cameBack).length}`,
    `  clients: ${listed(manners)}`,
    `  chain reader: ${report.reading.settlements} settlements, ${report.reading.tries} tries`,
    `  strangers: ${report.strangers.sent} payments, ${report.strangers.calls} calls caused, ${listed(report.strangers.statuses)}`,
    `  faults: ${listed(report.faults)}`,
    ...ZEROS.map(([words, figure]) => `  ${words}: ${figure(report)}`),
    ...report.offenders.map((words) => `  - ${words}`),
    isClean(report) ? 'nobody paid twice, for nothing, or not at all' : 'NOT CLEAN',
  ];
  return lines.join('\n');
}

function listed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1));
  return parts.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}
