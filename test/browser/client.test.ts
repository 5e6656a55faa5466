import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Browser } from 'playwright-core';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { describeInBrowser, launch, Visit } from './browser';

describeInBrowser('libtorch-serve/client', () => {
  let browser: Browser;
  let service: Service;

  beforeAll(async () => {
    browser = await launch();
    service = await startService('sentiment');
  });

  afterAll(async () => {
    await browser.close();
    await killAll();
  });

  it('asks a service from a page', async () => {
    const { outputFiles } = buildSync({
      entryPoints: [path.join(ROOT, 'dist', 'client.js')],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      write: false,
    });
    const visit = await Visit.open(browser, service);
    const answer = await visit.page.evaluate(`${outputFiles[0]?.text}
      (async () => {
        const sentiment = new client.SentimentClient(location.origin);
        const { label } = await sentiment.analyze('A warm, funny film.');
        const error = await sentiment.analyze(' ').catch((reason) => reason);
        return [label, error instanceof client.ResponseError, error.detail];
      })()`);
    expect(answer).toEqual(['POSITIVE', true, 'Text payload cannot be empty.']);
  });
});
