import type { Page } from 'playwright-core';
import { Folder } from '../helpers/files';
import { startService } from '../helpers/service';
import { describeInBrowser, LOOKS, setStage, type Visit } from './browser';

const KEY = 'the-key-of-the-browser-test';
const LATER = 'the-key-that-comes-after-it';
/** Where to put pictures of what is asked, for people to look at. */
const PICTURES = process.env.KEY_PICTURES;
const FORM = 'form:has(#key)';

describeInBrowser('a service with keys', () => {
  const folder = new Folder();
  const stage = setStage(() =>
    startService('sentiment', { env: { API_KEYS_FILE: folder.put('keys', KEY) } }),
  );
  const open = (look?: (typeof LOOKS)[number]) => stage.open(look, stage.service, FORM);

  afterAll(() => folder.remove());

  async function enter(page: Page, key: string): Promise<void> {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Save' }).click();
  }

  /** The browser itself reports each answer 401. */
  const others = ({ problems }: Visit) => problems.filter((problem) => !problem.includes('401'));

  it('asks for a key, says when it is wrong, and works with the right one', async () => {
    const visit = await open();
    const { page } = visit;
    await page.getByText('This server requires an API key.').waitFor();
    expect(await page.locator('.badge').textContent()).toBe('API key required');
    expect(await page.getByRole('link', { name: 'Metrics' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('API key').fill('no key');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);

    await enter(page, 'a-wrong-key');
    await page.getByText('The server rejected this API key.').waitFor();
    await enter(page, ` ${KEY} `);
    await page.locator('.badge .dot').waitFor();
    expect(await page.locator(FORM).count()).toBe(0);
    await page.getByRole('button', { name: 'The cast is wonderful' }).click();
    await page.locator('.verdict').getByText('POSITIVE').waitFor();

    // Kept in this tab, and nowhere else.
    await page.reload();
    await page.locator('.badge .dot').waitFor();
    const places = await page.evaluate((key) => {
      const has = (storage: Storage) => JSON.stringify({ ...storage }).includes(key);
      return [has(sessionStorage), has(localStorage), document.cookie, location.href.includes(key)];
    }, KEY);
    expect(places).toEqual([true, false, '', false]);
    expect(others(visit)).toEqual([]);
  });

  it('shows the API with the same key, and asks for one where there is none', async () => {
    const visit = await open();
    const { page } = visit;
    await page.goto(`${stage.service.origin}/docs`);
    await page.getByText('This server requires an API key.').waitFor();
    expect(await visit.findViolations()).toEqual([]);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/docs.png` });
    await enter(page, 'a-wrong-key');
    await page.getByText('The server rejected this API key.').waitFor();
    await enter(page, KEY);
    const analyze = page.locator('#operations-analysis-analyze');
    await analyze.locator('.opblock-summary-control').first().click();
    await analyze.getByRole('button', { name: 'Execute' }).click();
    await analyze.locator('.live-responses-table').getByText('"label"').waitFor();
    expect(await page.locator('#key-form').isHidden()).toBe(true);
    expect(await page.getByRole('button', { name: 'Authorize' }).count()).toBe(1);
    // The other page has it, too.
    await page.goto(`${stage.service.origin}/`);
    await page.locator('.badge .dot').waitFor();
    expect(others(visit)).toEqual([]);
  });

  it.each(LOOKS)('asks so that everybody can read it: $look', async (look) => {
    const visit = await open(look);
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
    if (PICTURES) await visit.page.screenshot({ path: `${PICTURES}/${look.look}.png` });
    await enter(visit.page, 'a-wrong-key');
    await visit.page.getByText('The server rejected this API key.').waitFor();
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
  });

  it('asks again when the key is withdrawn, and keeps what was entered', async () => {
    const visit = await open();
    const { page } = visit;
    await enter(page, KEY);
    await page.locator('.badge .dot').waitFor();
    await page.getByLabel('Text', { exact: true }).fill('Wonderful.');
    folder.put('keys', LATER);
    stage.service.kill('SIGHUP');
    await stage.service.waitForLog(({ msg }) => msg === 'API keys reloaded');
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText('The server rejected this API key.').waitFor();
    await enter(page, LATER);
    await page.locator(FORM).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.verdict').getByText('POSITIVE').waitFor();
    expect(others(visit)).toEqual([]);
  });
});
