import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGate } from '../gate.ts';
import { quickStartData } from '../quick-start.ts';
import { compileFolder, ndjson, reading as rowOf, writeSnapshots } from '../snapshot-folder.ts';

/** A gatekeeper over a compiled release, on a free port of this machine. */
export interface Shop {
  readonly url: string;
  /** Milliseconds that the compile took. */
  readonly compileMs: number;
  close(): Promise<void>;
}

interface Making {
  readonly root: string;
  readonly baseUrl: string;
}

/** The shop of `npm start`; `payments` are settings in place of pretended ones. */
export function sampleShop(payments?: Readonly<Record<string, string>>): Promise<Shop> {
  return openShop(async ({ root, baseUrl }) => {
    const made = await quickStartData({ top: join(root, 'top'), baseUrl });
    renameSync(join(made.root, 'dist-data'), join(root, 'dist-data'));
  }, payments);
}

/** A shop that sells one signal about one entity. */
export function smallestShop(): Promise<Shop> {
  return openShop((making) =>
    compileRows(making, { 'crypto.spot': [reading('btc', { price_usd: 90_000 })] }),
  );
}

/** How many entities the large shop has; SHOP_ENTITIES=100000 for a long run. */
export const LARGE = Number(process.env.SHOP_ENTITIES ?? 10_000);

/** A shop with LARGE entities of two signals, each read twice; names differ in a place and a number. */
export function largeShop(): Promise<Shop> {
  const half = LARGE / 2;
  return openShop((making) =>
    compileRows(making, {
      'hydrology.river-level': Array.from({ length: half }, (_, at) =>
        largeReading(at, { stage_ft: at / 100 }),
      ),
      'hydrology.streamflow': Array.from({ length: half }, (_, at) =>
        largeReading(at, { discharge_cfs: at }),
      ),
    }),
  );
}

const PLACES = [
  'Alder',
  'Birch',
  'Cedar',
  'Dogwood',
  'Elm',
  'Fir',
  'Ginkgo',
  'Hazel',
  'Ivy',
  'Juniper',
];

/** Name of an entity of the large shop: `Cedar Creek 00042 near Elm`. */
export function largeName(at: number): string {
  const place = (of: number): string => PLACES[of % PLACES.length] ?? '';
  return `${place(at)} Creek ${String(at).padStart(5, '0')} near ${place(Math.floor(at / 10))}`;
}

function largeReading(at: number, current: object): object {
  return reading(String(10_000_000 + at), current, { entity_name: largeName(at) });
}

/** Texts that a publisher could send; none may be taken for markup. What hides or turns others is refused at intake. */
export const HOSTILE_TEXTS = [
  '<script>document.title="taken"</script>',
  '<img src=x onerror=document.title="taken">',
  '"><svg onload=document.title="taken">',
  "' onmouseover='document.title=1",
  '</title><script>document.title="taken"</script>',
  '</script><script>document.title="taken"</script>',
  '<!--',
  '<style>*{display:none}</style>',
  '&lt;b&gt;&amp;#60;',
  '{{constructor.constructor("document.title=1")()}}',
  'javascript:document.title="taken"',
] as const;

/** A shop in which every text that a publisher writes is hostile. */
export function hostileShop(): Promise<Shop> {
  const rows = HOSTILE_TEXTS.map((text, at) => {
    const more = {
      entity_name: text,
      sources: [{ name: text, weight: 1, independent: true }],
      validation_status: text,
    };
    return reading(`coin-${at}`, { price_usd: at + 1 }, more);
  });
  return openShop((making) => compileRows(making, { 'crypto.spot': rows }));
}

const HOUR_MS = 3_600_000;

function reading(entity: string, current: object, more: object = {}): object {
  return rowOf(entity, current, { observed_at: isoHour(-2), collected_at: isoHour(-1), ...more });
}

/** An hour before or after this one, as files write it. */
function isoHour(offset: number): string {
  const hour = Math.floor(Date.now() / HOUR_MS) + offset;
  return new Date(hour * HOUR_MS).toISOString().replace('.000Z', 'Z');
}

async function compileRows(
  { root, baseUrl }: Making,
  signals: Readonly<Record<string, readonly object[]>>,
): Promise<void> {
  const batch = `${isoHour(-1).slice(0, 13)}Z`;
  const files = Object.entries(signals).map(([id, rows]) => [
    `${batch}/${id}.ndjson`,
    ndjson(rows),
  ]);
  const snapshots = writeSnapshots(Object.fromEntries(files), join(root, 'snapshots'));
  const options = { asOf: isoHour(0), issuerName: 'Signalpress test', baseUrl };
  await compileFolder(snapshots, { ...options, data: join(root, 'dist-data') });
}

async function openShop(
  make: (making: Making) => Promise<unknown>,
  payments: Readonly<Record<string, string>> = { test_payments: '1' },
): Promise<Shop> {
  const root = mkdtempSync(join(tmpdir(), 'signalpress-browser-'));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const options = {
    port: String(port),
    base_url: baseUrl,
    data: join(root, 'dist-data'),
    state: join(root, 'state'),
    ...payments,
  };
  const env = { SIGNALPRESS_TOKEN_SECRET: 'a secret for tests alone of 32 characters or more' };
  const started = performance.now();
  await make({ root, baseUrl });
  const compileMs = Math.round(performance.now() - started);
  const gatekeeper = await startGate(options, { env });
  return {
    url: gatekeeper.url,
    compileMs,
    async close() {
      await gatekeeper.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A port that was free a moment ago: its address is compiled into the release. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
