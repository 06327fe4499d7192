import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openChromium, openSession } from './page-session.ts';
import { type Shop, sampleShop } from './shops.ts';

/** `npm run screenshots`: pictures of the page, to be looked at. */
const FOLDER = '.signalpress/screenshots';
const isWanted = process.env.npm_lifecycle_event === 'screenshots';

interface Picture {
  readonly path: string;
  readonly options?: BrowserContextOptions;
  readonly act?: (page: Page) => Promise<void>;
}

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
const RECORD = '/r/airquality.aqi/us-denver';
const MAP = '/site/#/map/airquality.aqi';

const PICTURES: Readonly<Record<string, Picture>> = {
  home: { path: '/', act: scrollThrough },
  'home-dark': { path: '/', options: { colorScheme: 'dark' }, act: scrollThrough },
  'home-phone': { path: '/', options: PHONE, act: scrollThrough },
  'phone-record': { path: RECORD, options: PHONE },
  'verify-ok': { path: '/', act: tryGenuine },
  'verify-failed': { path: '/', act: alterDigit },
  'verify-failed-dark': { path: '/', options: { colorScheme: 'dark' }, act: alterDigit },
  search: { path: '/site/#/find/denver' },
  record: { path: RECORD },
  'record-dark': { path: RECORD, options: { colorScheme: 'dark' } },
  map: { path: MAP },
  'map-dark': { path: MAP, options: { colorScheme: 'dark' } },
  chain: { path: '/chain/environment/us-denver' },
  docs: { path: '/docs' },
  'paid-link': { path: '/gauge?signal_id=airquality.aqi&entity=us-denver' },
  purchase: { path: '/gauge?signal_id=airquality.aqi&entity=us-denver', act: payPretended },
  'paid-link-phone': { path: '/gauge?signal_id=airquality.aqi&entity=us-denver', options: PHONE },
};

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
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    await page.screenshot({ path: join(FOLDER, `${name}-whole.png`), fullPage: true });
    await close();
  });
});
