import { summaryText } from '../compiler/progress.ts';
import { lineLog } from '../gatekeeper/line-log.ts';
import { startGatekeeper } from '../gatekeeper/start.ts';
import { demoSettings, prepareData } from './quick-start-data.ts';

/** `npm start`: compiles the sample and a genuine USGS feed into `.signalpress/`, then serves it. */
const ROOT = '.signalpress/quick-start';
const PORT = process.env.SIGNALPRESS_PORT ?? '4021';

try {
  await main(process.env.SIGNALPRESS_BASE_URL ?? `http://127.0.0.1:${PORT}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function main(baseUrl: string): Promise<void> {
  const started = performance.now();
  const { imported, summary } = await prepareData({ root: ROOT, baseUrl, asOf: new Date() });
  console.log(`${imported}\n\n${summaryText(summary, performance.now() - started)}\n`);
  const settings = demoSettings(ROOT, baseUrl);
  const clock = (): number => Date.now();
  const log = lineLog((text) => process.stdout.write(text), clock);
  const gatekeeper = await startGatekeeper(settings, { clock, log });
  console.log(`
Serving ${gatekeeper.url} with an in-memory facilitator: TEST ONLY, no money moves.

  curl -s  '${gatekeeper.url}/gauge/sample'
  curl -s  '${gatekeeper.url}/gauge/coverage?summary=1'
  curl -is '${gatekeeper.url}/gauge?signal_id=earthquake.current_activity&entity=california-san-andreas'
  npm run demo        buys and verifies
`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await gatekeeper.close();
      log.flush();
      process.exit(0);
    });
  }
}
