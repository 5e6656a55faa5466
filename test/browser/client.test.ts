import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Browser } from 'playwright-core';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { describeInBrowser, launch, Visit } from './browser';

/** The client as a script that sets `client`. */
function bundle(): string {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(ROOT, 'dist', 'client.js')],
    bundle: true,
    format: 'iife',
    globalName: 'client',
    write: false,
  });
  return outputFiles[0]?.text as string;
}

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
    const visit = await Visit.open(browser, service);
    const answer = await visit.page.evaluate(`${bundle()}
      (async () => {
        const sentiment = new client.SentimentClient(location.origin);
        const { label } = await sentiment.analyze('A warm, funny film.');
        const error = await sentiment.analyze(' ').catch((reason) => reason);
        return [label, error instanceof client.ResponseError, error.detail];
      })()`);
    expect(answer).toEqual(['POSITIVE', true, 'Text payload cannot be empty.']);
  });

  it('asks for every line of a file that is read as a stream, and stops when told to', async () => {
    const visit = await Visit.open(browser, service);
    const answer = await visit.page.evaluate(`${bundle()}
      (async () => {
        const text = Array.from({ length: 100 }, (_, i) => i === 70 ? ' ' : 'A marvel ' + i).join('\\n');
        async function* lines() {
          let rest = '';
          const stream = new Blob([text]).stream().pipeThrough(new TextDecoderStream());
          for (let reader = stream.getReader(), { done, value } = await reader.read(); !done;
               { done, value } = await reader.read()) {
            const whole = (rest + value).split('\\n');
            rest = whole.pop();
            yield* whole;
          }
          yield rest;
        }
        const sentiment = new client.SentimentClient(location.origin);
        const wrong = [];
        let count = 0;
        for await (const one of sentiment.analyzeAll(lines(), { batchSize: 9 })) {
          if (one.index !== count++ || one.result?.input_text !== one.input) wrong.push(one.error.message);
        }
        const controller = new AbortController();
        const all = sentiment.analyzeAll(lines(), { signal: controller.signal });
        await all.next();
        controller.abort(new Error('enough'));
        const aborted = await all.next().catch((error) => error.message);
        // Nobody listens there: a page sees a TypeError, as a program does.
        const retried = [];
        const nobody = new client.SentimentClient('http://127.0.0.1:1');
        const options = { retries: 2, onRetry: (error) => retried.push(error.name) };
        const failed = await nobody.health(options).catch((error) => error.name);
        return [count, wrong, aborted, retried, failed];
      })()`);
    expect(answer).toEqual([
      100,
      ['400: texts[70]: Text payload cannot be empty.'],
      'enough',
      ['TypeError', 'TypeError'],
      'TypeError',
    ]);
  });
});
