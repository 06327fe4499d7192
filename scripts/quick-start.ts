import { summaryText } from '../compiler/cli/progress.ts';
import { messageOf } from '../compiler/format/errors.ts';
import { outliveReader } from '../compiler/system/error-text.ts';
import type { Config } from '../gatekeeper/settings/config.ts';
import { packageVersion, startGatekeeper } from '../gatekeeper/start.ts';
import { LogOutput, lineLog } from '../gatekeeper/wire/log/line-log.ts';
import {
  demoSettings,
  playsKey,
  prepareData,
  QUICK_START,
  servedAt,
  unusedText,
  withSubscriptions,
} from './quick-start-data.ts';
import { bold, cyan, dim, green } from './terminal-style.ts';

// `npm start`: generates a sample up to this hour, imports a genuine USGS feed beside it, compiles both into
// `.signalpress/` and sells the files on this machine.
// Payments are pretended. `npm run demo` buys from this shop while it runs.

const FREE = [
  ['/gauge/sample', 'a whole signed record'],
  ['/gauge/coverage?summary=1', 'what is covered, and how fresh it is'],
  ['/gauge/preview', 'every price, and what may be asked for'],
] as const;

/** Operations whose prices are shown, dearer ones last. */
const SHOWN = ['/gauge/ruler', '/gauge', '/gauge/census', '/gauge/earthquake-region'];
const GENUINE =
  'Genuine are the quakes, of 2018. Everything else is generated and says "sample" or "example".';
const UNKEYED =
  'Nothing of grid-reliability: its source needs a data key. SIGNALPRESS_SAMPLE_GRID=1 npm start plays one.';
const PAID_EXAMPLE = '/gauge?signal_id=earthquake.current_activity&entity=california-san-andreas';

outliveReader(process.stdout, process.stderr);
try {
  await main({
    port: process.env.SIGNALPRESS_PORT,
    baseUrl: process.env.SIGNALPRESS_BASE_URL,
    testPayments: process.env.SIGNALPRESS_TEST_PAYMENTS,
  });
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

async function main(address: Parameters<typeof demoSettings>[1]): Promise<void> {
  const started = performance.now();
  const isKeyed = playsKey(process.env);
  const settings = await onFreePort(demoSettings(QUICK_START, address));
  const { baseUrl } = settings;
  console.log(dim('Compiling official readings into signed files. This takes a few seconds …'));
  const start = { root: QUICK_START, baseUrl, now: new Date(), isKeyed };
  const { imported, summary } = await prepareData(start);
  console.log(`\n${imported}\n\n${summaryText(summary, performance.now() - started)}\n`);
  const clock = (): number => Date.now();
  const output = new LogOutput(process.stdout);
  const log = lineLog(output, { clock });
  const by = { clock, log, version: packageVersion() };
  const gatekeeper = await startGatekeeper(withSubscriptions(settings, QUICK_START), by);
  const menu = (await (await fetch(`${gatekeeper.url}/gauge/preview`)).json()) as {
    counts: { paid_endpoints: number };
    prices: readonly { path: string; price_usd: string; summary: string }[];
  };
  const usual = demoSettings(QUICK_START, { port: undefined }).port;
  const shown = SHOWN.flatMap((path) => menu.prices.find((row) => row.path === path) ?? []);
  console.log(
    [
      `${green('Serving')} ${bold(gatekeeper.url)}`,
      'TEST ONLY: payments are pretended, and no money moves. README.md says how to take real ones.',
      isKeyed ? GENUINE : `${GENUINE}\n${UNKEYED}`,
      '',
      bold('Free'),
      ...FREE.map(
        ([path, about]) => `  ${cyan(`curl -s '${gatekeeper.url}${path}'`)}\n      ${dim(about)}`,
      ),
      '',
      `${bold('Paid')}, USD a call (${menu.counts.paid_endpoints} operations, all of them at /gauge/preview)`,
      ...shown.map(({ path, price_usd, summary }) => {
        return `  ${price_usd.padStart(5)}  ${path.padEnd(25)} ${dim(summary)}`;
      }),
      `  ${cyan(`curl -is '${gatekeeper.url}${PAID_EXAMPLE}'`)}\n      ${dim('402: the price of a genuine reading')}`,
      `  ${cyan(`${gatekeeper.url}${PAID_EXAMPLE}`)}\n      ${dim('in a browser: pay it there, with a pretend wallet')}`,
      '',
      `In another terminal, ${bold(settings.port === usual ? 'npm run demo' : `SIGNALPRESS_PORT=${settings.port} npm run demo`)} buys from this shop and verifies offline what it bought.`,
      'Ctrl-C stops the shop.',
      unusedText(process.env),
    ].join('\n'),
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await gatekeeper.close();
      await output.close();
      process.exit(0);
    });
  }
}

async function onFreePort(settings: Config): ReturnType<typeof servedAt> {
  const { port } = settings;
  try {
    return await servedAt(settings);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const state = code === 'EADDRINUSE' ? 'taken by another process' : `refused with ${code}`;
    throw new Error(
      `Cannot serve on port "${port}": ${state}; stop what listens there, or choose another: SIGNALPRESS_PORT=${port + 1} npm start`,
      { cause },
    );
  }
}
