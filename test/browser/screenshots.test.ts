import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { DAY_MS } from '../../compiler/format/iso-time.ts';
import { JOURNAL_NAME } from '../../gatekeeper/heart/journal/journal-file.ts';
import { sqliteJournal } from '../../gatekeeper/heart/journal/sqlite-journal.ts';
import { dashboardCommand } from '../../gatekeeper/rooms/dashboard/dashboard-command.ts';
import { openChromium, openSession } from './page-session.ts';
import { type Shop, sampleShop } from './shops.ts';

/** `npm run screenshots`: the pictures of `scripts/pictures/`, made again. */
const FOLDER = 'scripts/pictures';
const isWanted = process.env.npm_lifecycle_event === 'screenshots';

interface Picture {
  readonly path: string;
  readonly options?: BrowserContextOptions;
  readonly act?: (page: Page) => Promise<void>;
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };
const RIVER = '/r/hydrology.river-level/07010000';
const PRICE = '/gauge?signal_id=airquality.aqi&entity=us-denver';

const PICTURES: Readonly<Record<string, Picture>> = {
  home: { path: '/', act: scrollThrough },
  'home-dark': { path: '/', options: { colorScheme: 'dark' }, act: scrollThrough },
  'home-phone': { path: '/', options: PHONE, act: scrollThrough },
  river: { path: RIVER },
  'river-dark': { path: RIVER, options: { colorScheme: 'dark' } },
  'river-phone': { path: RIVER, options: PHONE },
  air: { path: '/r/airquality.aqi/us-denver' },
  airport: { path: '/r/nas.ground_ops/atl' },
  chain: { path: '/chain/environment/us-denver' },
  price: { path: PRICE },
  purchase: { path: PRICE, act: payPretended },
  verdict: { path: '/', act: alterDigit },
};

/** Small enough for a repository: a photograph's format, at a quality that keeps letters sharp. */
async function take(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.jpg`);
  await page.screenshot({ path, type: 'jpeg', quality: 78, scale: 'css' });
}

const PATHS = ['/gauge', '/gauge/ruler', '/gauge/region', '/gauge/history-series'];
const DAYS = 28;

/** The operator's page over four weeks of made-up sales, a few more each day. */
async function writeCockpit(folder: string, file: string): Promise<void> {
  const end = Date.UTC(2026, 10, 21);
  let now = end - DAYS * DAY_MS;
  const journal = sqliteJournal({ path: join(folder, JOURNAL_NAME), clock: () => now });
  for (let at = 0; now < end; at += 1) {
    now += Math.floor(DAY_MS / (2 + ((at * 7) % 5) + at / 40));
    const [hex, path = ''] = [at.toString(16), PATHS[(at * at) % PATHS.length]];
    const key = `base|0xasset|0x${hex.padStart(40, 'a').slice(-40)}|0x${hex.padStart(64, '0')}`;
    const validBefore = Math.floor(now / 1000) + 300;
    const body = {
      signed: 'a|b|c|d|e|f|g',
      body: Buffer.from('{}'),
      contentType: 'application/json',
    };
    const value = path === '/gauge/region' ? '250000' : '10000';
    await journal.claim({
      key,
      resource: `GET ${path}?entity=a`,
      version: 1,
      value,
      validBefore,
      ...body,
    });
    const isRefused = at % 23 === 22;
    await journal.conclude(
      isRefused
        ? { key, state: 'refused', detail: 'insufficient_funds' }
        : { key, state: 'settled', transaction: `0x${hex}` },
    );
  }
  journal.close();
  const place = { stateDir: folder, journal: 'sqlite' };
  const by = { place, note: () => {}, clock: () => end, onListen: () => {} };
  await dashboardCommand(by).parseAsync(['--out', file], { from: 'user' });
}

/** What is drawn only where a reader comes near. */
async function scrollThrough(page: Page): Promise<void> {
  await page.locator('#map').scrollIntoViewIfNeeded();
  await page.locator('#map canvas').waitFor();
  await page.evaluate(() => scrollTo(0, 0));
}

async function payPretended(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'with a pretend wallet' }).click();
  await page.locator('.purchase .verdict.verified').waitFor();
}

async function tryGenuine(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try a genuine one' }).click();
  await page.locator('#verify .verdict.verified').waitFor();
}

async function alterDigit(page: Page): Promise<void> {
  await tryGenuine(page);
  await page.getByRole('button', { name: 'Alter one digit' }).click();
  await page.locator('#verify .verdict.failed').waitFor();
  await page.locator('#verify .steps > li.fail').first().scrollIntoViewIfNeeded();
}

describe.skipIf(!isWanted)('screenshots (only where npm run screenshots asks for them)', () => {
  let browser: Browser;
  let shop: Shop;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    browser = await openChromium();
    shop = await sampleShop();
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  it.each(Object.entries(PICTURES))('%s', async (name, { path, options = {}, act }) => {
    const { page, open, close } = await openSession(browser, shop.url, {
      reducedMotion: 'reduce',
      ...options,
    });
    await open(path);
    await act?.(page);
    await page.waitForTimeout(300);
    await take(page, name);
    await close();
  });

  it('cockpit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cockpit-'));
    const file = join(folder, 'cockpit.html');
    await writeCockpit(folder, file);
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    await take(page, 'cockpit');
    await page.close();
    rmSync(folder, { recursive: true });
  });
});
