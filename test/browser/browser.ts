import { source as axeSource } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { CHROMIUM, needs } from '../helpers/needs';
import { killAll, type Service } from '../helpers/service';
import { setTestLimit } from '../helpers/until';

/** No test fails because a machine is slow. */
const PATIENCE_MS = 60_000;

/** `describe`, with time for pages; skipped where no browser is installed. */
export function describeInBrowser(name: string, tests: () => void): void {
  setTestLimit(4 * PATIENCE_MS);
  needs('chromium').describe(name, tests);
}

export function launch(): Promise<Browser> {
  // Tests run in containers: as root, where Chromium's sandbox does not, and with a small /dev/shm.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: CHROMIUM as string, args });
}

export const LOOKS = [
  { look: 'light', viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  { look: 'dark', viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  { look: 'phone', viewport: { width: 320, height: 740 }, colorScheme: 'light' },
  { look: 'dark phone', viewport: { width: 320, height: 740 }, colorScheme: 'dark' },
] as const;
export type Look = (typeof LOOKS)[number];

/** A page in a context of its own, and what went wrong in it. */
export class Visit {
  readonly page: Page;
  /** Errors of the console, uncaught ones, and requests that left the service. */
  readonly problems: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(message.text());
    });
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith('blob:')) this.problems.push(url);
    });
  }

  /** @param sign what is to be seen first; by default the model's name, once /info has answered */
  static async open(
    browser: Browser,
    service: Service,
    look: Look = LOOKS[0],
    sign = '.badge .dot',
    path = '/',
  ): Promise<Visit> {
    const { viewport, colorScheme } = look;
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
    const visit = new Visit(context, await context.newPage(), service.origin);
    await visit.page.goto(service.origin + path);
    await visit.page.locator(sign).waitFor();
    return visit;
  }

  /** Puts a long text into a field. Playwright's `fill` takes a second for some hundred lines. */
  async put(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label).evaluate((field, value) => {
      (field as HTMLTextAreaElement).value = value;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }, text);
  }

  /** What axe finds wrong; each with where. */
  async findViolations(): Promise<readonly string[]> {
    await this.page.evaluate(axeSource);
    return this.page.evaluate(async () => {
      const { axe } = window as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run();
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id} (${help}) ${target}: ${failureSummary}`),
      );
    });
  }

  /** Presses Tab until the focus is where it was first; names or ids of all that had it. */
  async walk(): Promise<readonly string[]> {
    const names: string[] = [];
    for (let presses = 0; presses < 100; presses++) {
      await this.page.keyboard.press('Tab');
      const name = await this.page.evaluate(() => {
        const { activeElement } = document;
        if (activeElement === null || activeElement === document.body) return '';
        const label = activeElement.getAttribute('aria-label') ?? activeElement.id;
        return label || (activeElement.textContent ?? '').trim();
      });
      if (name !== '' && name === names[0]) return names;
      if (name !== '') names.push(name);
    }
    throw new Error(`the focus never came back to ${names[0]}: ${names.join(', ')}`);
  }

  /** Pixels by which the page is wider than the window. */
  overflow(): Promise<number> {
    return this.page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
  }

  /** The text of a file that a click offers. */
  async download(button: string): Promise<{ readonly name: string; readonly text: string }> {
    const coming = this.page.waitForEvent('download');
    await this.page.getByRole('button', { name: button }).click();
    const file = await coming;
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    return { name: file.suggestedFilename(), text: Buffer.concat(chunks).toString('utf8') };
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}

/** What all tests of one `describe` share. */
export interface Stage {
  readonly service: Service;
  /** A visit of the service, or of another one; it ends with the test. */
  readonly open: (look?: Look, at?: Service, sign?: string) => Promise<Visit>;
}

/**
 * Within a `describe`: a browser and a service, there before its tests and gone after them.
 *
 * @param path of the page
 */
export function setStage(start: () => Promise<Service>, path = '/'): Stage {
  let browser: Browser;
  let service: Service;
  let visit: Visit | undefined;

  beforeAll(async () => {
    [browser, service] = await Promise.all([launch(), start()]);
  });

  afterEach(async () => {
    await visit?.close();
    visit = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await killAll();
  });

  return {
    get service() {
      return service;
    },
    open: async (look, at = service, sign = undefined) => {
      visit = await Visit.open(browser, at, look, sign, path);
      return visit;
    },
  };
}

/** Defines tests of how a page looks, as it is opened and with an answer. @param show until it is there */
export function testLooks({ open }: Stage, show: (visit: Visit) => Promise<void>): void {
  it.each(LOOKS)('is accessible and fits: $look', async (look) => {
    const visit = await open(look);
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
    await show(visit);
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
    expect(visit.problems).toEqual([]);
  });
}

/** A screenshot for the README: with PICTURES set, into docs/. `first`: what is on top of it. */
export async function takePicture(
  { page }: Visit,
  name: string,
  first: Locator = page.locator('main'),
): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await first.evaluate((element) => {
    const header = document.querySelector('header')?.clientHeight ?? 0;
    window.scrollTo(0, element.getBoundingClientRect().top + window.scrollY - header - 20);
  });
  await page.mouse.move(0, 0);
  const isKept = Boolean(process.env.PICTURES);
  const bytes = await page.screenshot(isKept ? { path: `docs/${name}.png` } : {});
  // Fonts differ from machine to machine, and so do sizes: only what is kept must be small.
  if (isKept) expect(bytes.length).toBeLessThan(150 * 1000);
}
