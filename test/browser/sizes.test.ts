import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { axeFaults, openChromium, openSession, type PageSession } from './page-session.ts';
import {
  HOSTILE_TEXTS,
  hostileShop,
  LARGE,
  largeName,
  largeShop,
  type Shop,
  smallestShop,
} from './shops.ts';

/** The page of a shop that sells almost nothing, of one with very many entities, and of one with hostile texts. */

const FIRST_VIEW_BYTES_MAX = 150_000;
const SEARCH_MS_MAX = 100;

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

async function session({ url }: Shop): Promise<PageSession> {
  const made = await openSession(browser, url);
  onTestFinished(() => made.close());
  return made;
}

describe('a shop with one signal', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await smallestShop();
  });
  afterAll(() => shop?.close());

  it('has a page, a search, a record and no chain or map that is empty', async () => {
    const { page, open, transferred, expectClean } = await session(shop);
    await open('/');
    expect(transferred()).toBeLessThan(FIRST_VIEW_BYTES_MAX);
    expect(await axeFaults(page)).toEqual([]);
    await page.locator('#find').fill('btc');
    await page.locator('.finder > .hits a[href="/r/crypto.spot/btc"]').click();
    await page.locator('.record h1').waitFor();
    expect(await page.locator('.record').innerText()).toContain('90,000');
    await expectClean();
  });
});

describe(`a shop with ${LARGE} entities`, () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await largeShop();
  }, 600_000);
  afterAll(() => shop?.close());

  it('has a first view under 150 KB', async () => {
    const { page, open, transferred, expectClean } = await session(shop);
    await open('/');
    await page.locator('#find').waitFor();
    expect(transferred()).toBeLessThan(FIRST_VIEW_BYTES_MAX);
    await expectClean();
  });

  it.each([
    ['a name', largeName(4242), '04242'],
    ['a number in names', '04242', '04242'],
    ['an id', '10004242', '04242'],
    ['two words', 'elm 04242', '04242'],
  ])('finds %s in less than 100 ms, once its pieces are read', async (_, query, number) => {
    const { page, open, transferred, expectClean } = await session(shop);
    await open('/');
    await page.locator('#find').waitFor();
    const before = transferred();
    await found(page, query, number);
    expect(transferred() - before).toBeLessThan(FIRST_VIEW_BYTES_MAX);
    // The quickest of some: a machine that does other work is not slower than this page.
    const times: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      await page.locator('#find').fill('');
      times.push(await found(page, query, number));
    }
    expect(Math.min(...times)).toBeLessThan(SEARCH_MS_MAX);
    await expectClean();
  });

  it('answers words that very many entities have, and says that there are more', async () => {
    const { page, open } = await session(shop);
    await open('/');
    const took = await found(page, 'creek', '');
    expect(await page.locator('.finder > .hits a').count()).toBeGreaterThan(10);
    expect(await page.locator('#find-status').innerText()).toMatch(/more/);
    expect(took).toBeLessThan(10 * SEARCH_MS_MAX);
  });

  it('opens one of them', async () => {
    const { page, open, expectClean } = await session(shop);
    await open('/r/hydrology.river-level/10004242');
    await page.locator('.record h1').waitFor();
    expect(await page.locator('.record h1').innerText()).toContain('04242');
    await expectClean();
  });

  it('lists a signal in pages', async () => {
    const { page, open, transferred, expectClean } = await session(shop);
    await open('/site/#/hydrology.streamflow');
    await page.locator('#record h2').waitFor();
    expect(transferred()).toBeLessThan(2 * FIRST_VIEW_BYTES_MAX);
    await expectClean();
  });
});

/** Milliseconds from the input of a query until a link with this text is shown, measured in the page. */
async function found(page: PageSession['page'], query: string, text: string): Promise<number> {
  return page.evaluate(
    async ([typed = '', sought = '']) => {
      const field = document.querySelector<HTMLInputElement>('#find');
      const started = performance.now();
      if (field === null) throw new Error('there is no field');
      field.value = typed;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      const isShown = (): boolean =>
        [...document.querySelectorAll('.finder > .hits a')].some((one) =>
          one.textContent?.includes(sought),
        );
      while (!isShown()) {
        if (performance.now() - started > 10_000) throw new Error(`nothing found for "${typed}"`);
        await new Promise((done) => setTimeout(done));
      }
      return performance.now() - started;
    },
    [query, text],
  );
}

describe('a shop with hostile texts', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await hostileShop();
  });
  afterAll(() => shop?.close());

  it('shows them as text wherever they stand', async () => {
    const { page, open, expectClean } = await session(shop);
    await open('/');
    await unharmed(page);
    for (const [at, text] of HOSTILE_TEXTS.entries()) {
      for (const path of ['/r/crypto.spot', '/place']) {
        await open(`${path}/coin-${at}`);
        await unharmed(page);
        expect(await page.locator('h1').innerText()).toContain(shownPart(text));
      }
    }
    await open('/site/#/find/coin');
    await page.locator('.finder > .hits a').first().waitFor();
    await unharmed(page);
    await expectClean();
  });

  it('shows them as text in the API page and in the list of changes', async () => {
    const { page, open, expectClean } = await session(shop);
    for (const path of ['/docs', '/docs/api']) {
      await open(path);
      await unharmed(page);
    }
    const feed = await (await fetch(`${shop.url}/changes.atom`)).text();
    expect(feed).not.toMatch(/<script|<img|<svg|<style/);
    expect(feed).toContain('&lt;script&gt;');
    await expectClean();
  });
});

/** The longest piece of a text that is shown as it stands: what turns text around or hides is shown as its number. */
function shownPart(text: string): string {
  const pieces = text.split(/[\p{Cc}\p{Cf}]/u).sort((one, other) => other.length - one.length);
  return pieces[0] ?? '';
}

async function unharmed(page: PageSession['page']): Promise<void> {
  expect(await page.title()).not.toBe('taken');
  const strange = await page.evaluate(
    () =>
      document.querySelectorAll('body script, img[src="x"], svg[onload], [onmouseover], body style')
        .length,
  );
  expect(strange).toBe(0);
  expect(await page.locator('h1').first().isVisible()).toBe(true);
  const unseen = /.{0,20}(?:[^\P{Cc}\n\t]|[\u{200b}\u{202a}-\u{202e}\u{2066}-\u{2069}]).{0,20}/u;
  const [piece = ''] = unseen.exec(await page.innerText('body')) ?? [];
  expect(encodeURIComponent(piece)).toBe('');
}
