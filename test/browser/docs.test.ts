import path from 'node:path';
import type { Browser } from 'playwright-core';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { describeInBrowser, launch, Visit } from './browser';

describeInBrowser('/docs', () => {
  let browser: Browser;
  let service: Service;

  beforeAll(async () => {
    browser = await launch();
    service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
  });

  afterAll(async () => {
    await browser.close();
    await killAll();
  });

  it('shows each route, and tries one with its example', async () => {
    const visit = await Visit.open(browser, service);
    const { page } = visit;
    await page.goto(`${service.origin}/docs`);
    await page.getByText('Demonstration, not a medical device.').first().waitFor();
    const paths = await page.locator('.opblock-summary-path').allTextContents();
    expect(paths.map((text) => text.replaceAll('\u200b', ''))).toEqual(
      expect.arrayContaining(['/predict', '/predict/batch', '/health', '/ready', '/metrics']),
    );
    const predict = page.locator('#operations-analysis-predict');
    await predict.locator('.opblock-summary-control').click();
    await predict.getByRole('button', { name: 'Execute' }).click();
    await predict.locator('.live-responses-table').getByText('"diagnosis"').waitFor();
    expect(await predict.locator('.live-responses-table').textContent()).toMatch(/"Control"/);
    expect(visit.problems).toEqual([]);
  });
});
