import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import {
  type Browser,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** The browser of this machine: what CHROMIUM_PATH names, else the first one of the PATH; null where there is none. */
export function chromiumPath(env = process.env): string | null {
  const folders = (env.PATH ?? '').split(delimiter);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [env.CHROMIUM_PATH ?? '', ...found].find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}

/** Starts the browser without a window; throws with what to do where there is none. */
export async function openChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === null) {
    throw new Error(
      'Cannot open a browser: no Chromium in the PATH; install it (Debian: apt-get install chromium), or name it in CHROMIUM_PATH',
    );
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of a shop in a browser of its own, with what it did that it must not do. */
export interface PageSession {
  readonly page: Page;
  /** Opens a path of the shop and waits until nothing more is asked for. */
  open(path: string): Promise<void>;
  /** Bytes that came over the wire so far, headers included. */
  transferred(): number;
  /** URLs that were asked for so far, in order. */
  readonly asked: readonly string[];
  /** Fails where anything was asked of another origin, the policy was broken, or the program threw. */
  expectClean(): Promise<void>;
  close(): Promise<void>;
}

/** What is wrong on the side of the browser, in the words of the browser. */
interface Faults {
  readonly elsewhere: string[];
  readonly policy: string[];
  readonly thrown: string[];
}

export async function openSession(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<PageSession> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const asked: string[] = [];
  const faults: Faults = { elsewhere: [], policy: [], thrown: [] };
  context.on('request', (request) => {
    const url = request.url();
    asked.push(url);
    if (!url.startsWith(`${origin}/`) && !isOwn(url, origin)) faults.elsewhere.push(url);
  });
  page.on('pageerror', (error) => faults.thrown.push(error.message));
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.policy.push(message.text());
  });
  const wire = await countBytes(await context.newCDPSession(page));
  return {
    page,
    asked,
    transferred: () => wire.bytes,
    async open(path) {
      await page.goto(new URL(path, origin).href, { waitUntil: 'networkidle' });
    },
    async expectClean() {
      // What the page did last is told a moment later.
      await page.waitForTimeout(50);
      if (Object.values(faults).some((one) => one.length > 0))
        throw new Error(JSON.stringify(faults));
    },
    close: () => context.close(),
  };
}

/** What the page holds itself asks nobody. */
function isOwn(url: string, origin: string): boolean {
  return url.startsWith('data:') || url.startsWith(`blob:${origin}/`);
}

async function countBytes(session: CDPSession): Promise<{ bytes: number }> {
  const wire = { bytes: 0 };
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    wire.bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  return wire;
}

/** What axe-core finds on the page as it is now, one line each. */
export async function axeFaults(page: Page): Promise<string[]> {
  // Run by the debugger, so that the policy of the page need not allow it.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as AxeWindow).axe.run(document, {
      resultTypes: ['violations'],
    });
    return violations.map(({ id, help, nodes }) => {
      const where = nodes.slice(0, 5).map(({ html, target }) => `${target.join(' ')} ${html}`);
      return `${id}: ${help}: ${where.join(' | ')}`.slice(0, 900);
    });
  });
}

interface AxeWindow {
  readonly axe: {
    run(
      root: Document,
      options: object,
    ): Promise<{
      readonly violations: readonly {
        readonly id: string;
        readonly help: string;
        readonly nodes: readonly { readonly html: string; readonly target: readonly string[] }[];
      }[];
    }>;
  };
}
