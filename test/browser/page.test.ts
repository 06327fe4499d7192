import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sayTime } from '../../compiler/products/shapes/say.ts';
import {
  axeFaults,
  chromiumPath,
  openChromium,
  openSession,
  type PageSession,
} from './page-session.ts';
import { type Shop, sampleShop } from './shops.ts';

/** The page for people over the shop of `npm start`, in a real browser. */

const DENVER = '/r/airquality.aqi/us-denver';
const MAP = '/site/#/map/airquality.aqi';
const CHAIN = '/chain/environment/us-denver';
const PAID_LINK = '/gauge?signal_id=airquality.aqi&entity=us-denver';

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

const verdict = (page: Page) => page.locator('#verify .verdict');

/** How far what was shown has moved since the page was opened, as browsers count it. */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done) => {
        let sum = 0;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            sum += (entry as PerformanceEntry & { value: number }).value;
        });
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => done(sum), 500);
      }),
  );
}

/** Whether something is shown in red rather than in the colour of text. */
async function isRed(page: Page, selector: string): Promise<boolean> {
  const colour = await page
    .locator(selector)
    .first()
    .evaluate((one) => getComputedStyle(one).color);
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return red > green + 60 && red > blue + 60;
}

describe('the first view', () => {
  it('says what is sold, for how much and how to buy, without a program', async () => {
    const { page, open, expectClean } = await session({ javaScriptEnabled: false });
    await open('/');
    const text = await page.innerText('body');
    for (const word of ['Test shop', 'Catalogue', 'air quality', '0.01', 'How to buy', 'curl']) {
      expect(text.toLowerCase()).toContain(word.toLowerCase());
    }
    await expectClean();
  });

  it('leads without a program to free answers about entities', async () => {
    const { page, open } = await session({ javaScriptEnabled: false });
    await open('/');
    const links = await page.locator('#catalogue a[href^="/"]').evaluateAll((all) => {
      return all.map((one) => one.getAttribute('href') ?? '');
    });
    expect(links.length).toBeGreaterThan(50);
    const some = links.filter((_, at) => at % Math.ceil(links.length / 20) === 0);
    const answers = await Promise.all(some.map((link) => fetch(shop.url + link)));
    expect(answers.filter(({ status }) => status !== 200).map(({ url }) => url)).toEqual([]);
  });

  it('takes less than 90 KB without the judge, is usable at once, and nothing in it jumps', async () => {
    const { page, open, asked, transferred, expectClean } = await session();
    await open('/');
    expect(transferred()).toBeGreaterThan(1000);
    expect(transferred()).toBeLessThan(90_000);
    const judge = () => asked.filter((url) => /\/assets\/verify-[0-9a-f]+\.js$/.test(url));
    expect(judge()).toEqual([]);
    await page.locator('#find').waitFor();
    expect(await layoutShift(page)).toBeLessThan(0.05);
    await page.locator('#verify-input').focus();
    await expect.poll(() => judge().length).toBe(1);
    await expectClean();
  });

  it.each(['/#/airquality.aqi', '/#/hydrology.river-level', '/#/map', '/#/bought'])(
    'makes room at once for %s, so that nothing jumps',
    async (address) => {
      const { page, open, expectClean } = await session();
      await open(address);
      await page.locator(':is(#record, #map, #bought):not([hidden]) h2').first().waitFor();
      expect(await layoutShift(page)).toBeLessThan(0.05);
      await expectClean();
    },
  );

  it('says that the shop is a test', async () => {
    const { page, open } = await session();
    await open('/');
    expect(await page.locator('.test-shop').isVisible()).toBe(true);
  });
});

describe('search', () => {
  it('finds as one types, opens with a click, and the back button leads back', async () => {
    const { page, open, expectClean } = await session();
    await open('/');
    await page.locator('#find').pressSequentially('denver aqi');
    const hit = page.locator('.finder > .hits a[href="/r/airquality.aqi/us-denver"]');
    await hit.waitFor();
    await hit.click();
    await page.locator('.record h1').waitFor();
    expect(page.url()).toBe(shop.url + DENVER);
    expect(await page.title()).toContain('US air quality index');
    await page.goBack();
    await expect.poll(() => page.locator('#find').inputValue()).toBe('denver aqi');
    await page.goForward();
    await page.locator('.record h1').waitFor();
    await expectClean();
  });

  it('says so where nothing is found', async () => {
    const { page, open } = await session();
    await open('/');
    await page.locator('#find').fill('zzzzzz');
    await page.getByText('Nothing found').waitFor();
    expect(await page.locator('.finder > .hits a').count()).toBe(0);
  });

  it('takes markup in a query for text', async () => {
    const { page, open, expectClean } = await session();
    await open(`/site/#/find/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
    await page.getByText('Nothing found').waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await expectClean();
  });
});

describe('"Is this genuine?"', () => {
  it('shows every check of a genuine body, and which one an altered digit turns red', async () => {
    const { page, open, expectClean } = await session();
    await open('/');
    await page.getByRole('button', { name: 'Try a genuine one' }).click();
    await page.locator('#verify .verdict.verified').waitFor();
    expect(await page.locator('#verify .steps > li').count()).toBeGreaterThan(3);
    expect(await page.locator('#verify .steps > li.fail').count()).toBe(0);
    await page.getByRole('button', { name: 'Alter one digit' }).click();
    await page.locator('#verify .verdict.failed').waitFor();
    expect(await page.locator('#verify .steps > li.fail').count()).toBeGreaterThan(0);
    expect(await isRed(page, '#verify .steps > li.fail .mark')).toBe(true);
    expect(await isRed(page, '#verify .verdict.failed strong')).toBe(true);
    await expectClean();
  });

  it('works without a connection once it is loaded, and sends nothing anywhere', async () => {
    const { page, open, asked } = await session();
    const body = await (await fetch(`${shop.url}/gauge/sample`)).text();
    await open('/');
    // What the page shows on the way there is read before.
    await page.locator('#map').scrollIntoViewIfNeeded();
    await page.locator('#map canvas').waitFor();
    await page.locator('#verify-input').focus();
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    const before = asked.length;
    await page.locator('#verify-input').fill(body);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.locator('#verify .verdict.verified').waitFor();
    expect(asked.slice(before).filter((url) => !url.endsWith('/.well-known/keys.json'))).toEqual(
      [],
    );
  });

  it('takes a file, and calls a file that is no body what it is', async () => {
    const { page, open } = await session();
    await open('/');
    const buffer = Buffer.from(await (await fetch(`${shop.url}/gauge/sample`)).arrayBuffer());
    const file = { name: 'answer.json', mimeType: 'application/json', buffer };
    await page.locator('#verify-file').setInputFiles(file);
    await page.locator('#verify .verdict.verified').waitFor();
    await page.locator('#verify-file').setInputFiles({ ...file, buffer: Buffer.from('no JSON') });
    await expect.poll(() => verdict(page).innerText()).toMatch(/JSON/i);
    expect(await verdict(page).getAttribute('class')).not.toContain('verified');
  });

  it('takes a record hash, and says that the log does not hold an unknown one', async () => {
    const { page, open } = await session();
    await open('/');
    const { sample } = (await (await fetch(`${shop.url}/gauge/sample`)).json()) as {
      sample: { record_hash: string };
    };
    await page.locator('#verify-input').fill(sample.record_hash);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.locator('#verify .verdict.partly_verified').waitFor();
    expect(await verdict(page).innerText()).toMatch(
      /^Verified, for a part only: .* nothing else is shown\./,
    );
    await page.locator('#verify-input').fill(`sha256:${'0'.repeat(64)}`);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText('does not hold this hash').waitFor();
  });

  it('does not call the body of another issuer genuine', async () => {
    const { page, open } = await session();
    await open('/');
    const body = await (await fetch(`${shop.url}/gauge/sample`)).text();
    await page.evaluate(() => {
      document.body.dataset.issuerDid = '';
    });
    const stranger = body.replaceAll(
      /did:key:z6Mk\w+/g,
      'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    );
    await page.locator('#verify-input').fill(stranger);
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.locator('#verify .verdict.failed').waitFor();
  });
});

describe('views', () => {
  it('a record shows its reading, the hashed part of the JSON, its source and its place in the log', async () => {
    const { page, open, expectClean } = await session();
    await open(DENVER);
    expect(await page.locator('.record .lead').first().innerText()).toMatch(/\d/);
    expect(await page.locator('#age .badge').innerText()).toMatch(/ old$/);
    await page.locator('#json').scrollIntoViewIfNeeded();
    await page.locator('#json pre mark').first().waitFor();
    await page.locator('#tree').scrollIntoViewIfNeeded();
    await page.locator('.tree svg circle').first().waitFor();
    expect(await page.locator('.tree svg circle').count()).toBeGreaterThan(2);
    const head = await (await fetch(`${shop.url}/.well-known/release.json`)).json();
    const text = await page.locator('.record').innerText();
    expect(text).toContain(`Release ${head.sequence} of ${sayTime(head.as_of)} stated this hash`);
    expect(text).toMatch(/number [1-9][\d,]* of the [\d,]+ that it took in/);
    expect(text).toMatch(/The release is entry 1 of the log/);
    await expectClean();
  });

  it('a map moves through the free last seven', async () => {
    const { page, open, expectClean } = await session();
    await open(MAP);
    const slider = page.locator('#map-day');
    await slider.waitFor();
    const last = await page.locator('#map output').innerText();
    await slider.fill('0');
    expect(await page.locator('#map output').innerText()).not.toBe(last);
    const drawn = await page.locator('#map canvas').evaluate((one) => {
      const canvas = one as HTMLCanvasElement;
      const { data } = (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(
        0,
        0,
        canvas.width,
        canvas.height,
      );
      const colours = new Set<number>();
      for (let at = 0; at < data.length; at += 4)
        colours.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
      return colours.size;
    });
    expect(drawn).toBeGreaterThan(3);
    await page.locator('#map .hits a').first().click();
    await page.locator('.record h1').waitFor();
    await expectClean();
  });

  it('an address of before leads to the page that a thing has now', async () => {
    const { page, open, expectClean } = await session();
    await open('/site/#/airquality.aqi/us-denver');
    await page.waitForURL(shop.url + DENVER);
    await open('/site/#/bundle/environment/us-denver');
    await page.waitForURL(shop.url + CHAIN);
    await expectClean();
  });

  it('a chart is saved as PNG, as large as it is drawn', async () => {
    const { page, open, expectClean } = await session();
    await open(DENVER);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PNG' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('airquality.aqi-us-denver.png');
    const bytes = readFileSync(await file.path());
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1280, 520]);
    await expectClean();
  });

  it('a record says everything without a program', async () => {
    const { page, open } = await session({ javaScriptEnabled: false });
    await open(DENVER);
    const text = await page.locator('.record').innerText();
    for (const word of ['US EPA', 'As a table', 'What a purchase adds', 'signalpress verify'])
      expect(text).toContain(word);
    expect(await page.locator('svg.chart circle').count()).toBeGreaterThan(2);
  });

  it('a bundle shows its legs in causal order, and what a purchase adds', async () => {
    const { page, open, expectClean } = await session();
    await open(CHAIN);
    expect(await page.locator('.bundle .chain > li').count()).toBe(3);
    expect(await page.locator('.bundle').innerText()).toContain('What a purchase adds');
    await expectClean();
  });

  it('an address of nothing says so', async () => {
    const { page, open, expectClean } = await session();
    await open('/site/#/no.such');
    await page.getByText('Cannot show').waitFor();
    await expectClean();
  });
});

describe('a paid link', () => {
  it('opened in a browser, shows the card with the status and the headers of the challenge', async () => {
    const { page, expectClean } = await session();
    const answer = await page.goto(shop.url + PAID_LINK);
    const plain = await fetch(shop.url + PAID_LINK);
    expect([answer?.status(), plain.status]).toEqual([402, 402]);
    expect(plain.headers.get('content-type')).toContain('application/json');
    const headers = (await answer?.allHeaders()) ?? {};
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    // Each challenge has a message of its own to sign in with; the terms are the same.
    const terms = (required: string | null | undefined) =>
      JSON.parse(Buffer.from(required ?? '', 'base64').toString('utf8')).accepts;
    expect(terms(headers['payment-required'])).toEqual(
      terms(plain.headers.get('payment-required')),
    );
    expect(terms(headers['payment-required'])).toHaveLength(1);
    const text = await page.innerText('body');
    for (const word of ['0.01', 'airquality.aqi', 'us-denver', 'curl'])
      expect(text).toContain(word);
    await expectClean();
  });

  it('shows hostile text of the address as text, or not at all', async () => {
    const { page, expectClean } = await session();
    const name = encodeURIComponent('"><script>document.title="taken"</script>');
    await page.goto(`${shop.url}${PAID_LINK}&x=${name}`);
    expect(await page.title()).not.toBe('taken');
    expect(await page.locator('body script:not([src])').count()).toBe(0);
    await expectClean();
  });
});

describe('keyboard alone', () => {
  it('skips to the content, searches, opens a record, and the focus follows', async () => {
    const { page, open } = await session();
    await open('/');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toContain('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo(page, '#find');
    await page.keyboard.type('denver aqi');
    await page.locator('.finder > .hits a[href="/r/airquality.aqi/us-denver"]').waitFor();
    await page.keyboard.press('ArrowDown');
    for (
      let tries = 0;
      tries < 20 && !(await isFocused(page, '[href="/r/airquality.aqi/us-denver"]'));
      tries += 1
    ) {
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await page.locator('.record h1').waitFor();
    expect(page.url()).toBe(shop.url + DENVER);
  });

  it('checks a body and alters a digit', async () => {
    const { page, open } = await session();
    await open('/');
    await tabToText(page, 'Is this genuine?');
    await page.keyboard.press('Enter');
    await tabToText(page, 'Try a genuine one');
    await page.keyboard.press('Enter');
    await page.locator('#verify .verdict.verified').waitFor();
    await tabToText(page, 'Alter one digit');
    await page.keyboard.press('Enter');
    await page.locator('#verify .verdict.failed').waitFor();
  });

  it('shows where the focus is', async () => {
    const { page, open } = await session();
    await open('/');
    for (let at = 0; at < 12; at += 1) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(
          document.activeElement as Element,
        );
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
      });
      expect([await focused(page), outline]).toEqual([expect.any(String), true]);
    }
  });
});

function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? '');
}

function isFocused(page: Page, selector: string): Promise<boolean> {
  return page.evaluate((one) => document.activeElement?.matches(one) === true, selector);
}

const TABS_MAX = 60;

async function tabTo(page: Page, selector: string): Promise<void> {
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if (await isFocused(page, selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Cannot reach "${selector}" with ${TABS_MAX} tabs`);
}

async function tabToText(page: Page, text: string): Promise<void> {
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if ((await focused(page)) === text) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Cannot reach "${text}" with ${TABS_MAX} tabs`);
}

describe('the browser', () => {
  it('is found where CHROMIUM_PATH or the PATH names one, and missed where none does', () => {
    expect(chromiumPath({ PATH: '/nowhere' })).toBeNull();
    expect(chromiumPath({ PATH: '', CHROMIUM_PATH: process.execPath })).toBe(process.execPath);
  });

  it('tells what breaks the policy, and what throws', async () => {
    const { page, open, expectClean } = await session();
    await open('/');
    await expectClean();
    await page.evaluate(() => {
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:1/x.png';
      document.body.append(image);
      setTimeout(() => {
        throw new Error('thrown for a test');
      });
    });
    await page.waitForTimeout(200);
    await expect(expectClean()).rejects.toThrow(/Content Security Policy.*thrown for a test/is);
  });

  it('tells what is asked of another origin', async () => {
    const { page, open, expectClean } = await session();
    await open('/');
    await page.evaluate(() => location.assign('http://127.0.0.1:1/elsewhere'));
    await page.waitForTimeout(200);
    await expect(expectClean()).rejects.toThrow('http://127.0.0.1:1/elsewhere');
  });

  it('tells what axe-core finds', async () => {
    const { page, open } = await session();
    await open('/');
    await page.evaluate(() =>
      document.querySelector('main')?.append(document.createElement('button')),
    );
    expect((await axeFaults(page)).join()).toContain('button-name');
  });
});

// Whether everybody can use each view of that shop: in light and dark, and on a phone.
describe('every view', () => {
  const VIEWS = {
    'first view': '/',
    search: '/site/#/find/denver',
    signal: '/site/#/airquality.aqi',
    record: DENVER,
    river: '/r/hydrology.river-level/07010000',
    line: '/line/environment',
    place: '/place/us-denver',
    log: '/log/',
    release: '/release/1',
    map: '/site/#/map/airquality.aqi',
    chain: CHAIN,
    documents: '/docs',
    document: '/docs/settings',
    API: '/docs/api',
    'paid link': '/gauge?signal_id=airquality.aqi&entity=us-denver',
  } as const;
  const NAMES = Object.keys(VIEWS) as (keyof typeof VIEWS)[];
  const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

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

  describe('the first screen of a phone', () => {
    const SCREEN = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const rowsOf = (page: Page): Promise<number> =>
      page.evaluate(() => {
        const links = [...document.querySelectorAll('header.top nav a')];
        return new Set(links.map((link) => link.getBoundingClientRect().top)).size;
      });

    it.each([
      ['first view', '.worst .main'],
      ['river', '.lead'],
      ['record', '.lead'],
      ['paid link', 'h1'],
    ] as const)('has the first number, below one row of links: %s', async (name, number) => {
      const visited = await session(SCREEN);
      const { page } = visited;
      await openView(visited, name);
      const { y = 0, height = 0 } = (await page.locator(number).first().boundingBox()) ?? {};
      expect(await page.locator(number).first().innerText()).toMatch(/\d/);
      expect(y).toBeGreaterThan(0);
      expect(y + height).toBeLessThan(SCREEN.viewport.height);
      expect(await rowsOf(page)).toBe(1);
      const last = page.locator('header.top nav a').last();
      await last.focus();
      await expect.poll(async () => (await last.boundingBox())?.x ?? 999).toBeLessThan(300);
      const isCharted = name === 'river' || name === 'record';
      const newest = isCharted ? await page.locator('.chart .dot').last().boundingBox() : null;
      expect(newest?.x ?? 0).toBeLessThan(SCREEN.viewport.width - 20);
      // The count sees links that wrap.
      await page.locator('header.top nav').evaluate((nav) => {
        (nav as HTMLElement).style.flexWrap = 'wrap';
      });
      expect(await rowsOf(page)).toBeGreaterThan(1);
    });
  });

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
});
