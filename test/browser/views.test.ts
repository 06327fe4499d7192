import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openChromium } from './chromium.ts';
import { axeFaults, openSession, type PageSession } from './page-session.ts';
import { type Shop, sampleShop } from './shops.ts';

/** Whether everybody can use each view of the shop of `npm start`: in light and dark, and on a phone. */

const VIEWS = {
  'first view': '/',
  search: '/site/#/find/denver',
  signal: '/site/#/airquality.aqi',
  record: '/site/#/airquality.aqi/us-denver',
  map: '/site/#/map/airquality.aqi',
  bundle: '/site/#/bundle/environment/us-denver',
  documents: '/docs',
  document: '/docs/settings',
  API: '/docs/api',
  'paid link': '/gauge?signal_id=airquality.aqi&entity=us-denver',
} as const;
const NAMES = Object.keys(VIEWS) as (keyof typeof VIEWS)[];
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

let browser: Browser;
let shop: Shop;
beforeAll(async () => {
  browser = await openChromium();
  shop = await sampleShop();
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

async function session(options: BrowserContextOptions = {}): Promise<PageSession> {
  const made = await openSession(browser, shop.url, options);
  onTestFinished(() => made.close());
  return made;
}

/** Opens a view and waits until nothing in it is still being read. */
async function openView({ page, open }: PageSession, name: keyof typeof VIEWS): Promise<void> {
  await open(VIEWS[name]);
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}

describe.each(NAMES)('%s', (name) => {
  it('axe-core finds nothing, light or dark', async () => {
    const visited = await session();
    await openView(visited, name);
    for (const colorScheme of ['light', 'dark'] as const) {
      await visited.page.emulateMedia({ colorScheme });
      expect([colorScheme, await axeFaults(visited.page)]).toEqual([colorScheme, []]);
    }
    await visited.expectClean();
  });

  it('fits a phone: nothing is wider than the screen, and axe-core finds nothing', async () => {
    const visited = await session(PHONE);
    await openView(visited, name);
    expect(await tooWide(visited.page)).toEqual([]);
    expect(await axeFaults(visited.page)).toEqual([]);
  });
});

/** Elements that make a page scroll sideways; what scrolls within itself does not. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const isOver = (one: Element): boolean => one.getBoundingClientRect().right > clientWidth + 1;
    const scrolls = (one: Element): boolean =>
      /auto|scroll|hidden/.test(getComputedStyle(one).overflowX);
    const isInside = (one: Element | null): boolean =>
      one !== null && ((scrolls(one) && !isOver(one)) || isInside(one.parentElement));
    const wide = [...document.querySelectorAll('body *')].filter(
      (one) => isOver(one) && !isInside(one),
    );
    return [
      `${scrollWidth} of ${clientWidth}`,
      ...wide.map((one) => one.outerHTML.slice(0, 120)),
    ].slice(0, 9);
  });
}

describe('verified and failed', () => {
  it.each(['light', 'dark'] as const)('axe-core finds nothing, %s', async (colorScheme) => {
    const { page, open } = await session({ colorScheme, reducedMotion: 'reduce' });
    await open('/');
    await page.getByRole('button', { name: 'Try a genuine one' }).click();
    await page.locator('#verify .verdict.verified').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Alter one digit' }).click();
    await page.locator('#verify .verdict.failed').waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });
});
