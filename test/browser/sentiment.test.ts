import { analyze, post } from '../helpers/http';
import { startService } from '../helpers/service';
import { until } from '../helpers/until';
import { describeInBrowser, LOOKS, setStage, takePicture } from './browser';

const BODY_LIMIT = 20_000;
const TEXT = "It isn't bad at all.";

interface Result {
  readonly label: string;
  readonly probabilities: Readonly<Record<string, number>>;
}

describeInBrowser('the sentiment page', () => {
  const stage = setStage(() =>
    startService('sentiment', { env: { BODY_LIMIT: String(BODY_LIMIT) } }),
  );
  const { open } = stage;

  it('shows the label, all classes and where the time went', async () => {
    const { page, problems } = await open();
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.locator('.verdict').waitFor();
    const { json } = await post(stage.service, '/analyze/batch', { texts: [TEXT] });
    const [result] = (json as { results: Result[] }).results;
    expect(await page.locator('.verdict strong').textContent()).toBe(result?.label);
    const bars = await page
      .getByRole('list', { name: 'Probability' })
      .locator('li')
      .allTextContents();
    const expected = Object.entries(result?.probabilities ?? {}).map(
      ([label, p]) => `${label}${(p * 100).toFixed(1)} %`,
    );
    expect(bars).toEqual(expected);
    const timing = await page.getByRole('region', { name: 'Latency breakdown' }).textContent();
    expect(timing).toMatch(
      /Response in [\d.]+ m?s · \d+ tokens computed.*Queue [\d.]+ ms.*Tokenization [\d.]+ ms.*Inference [\d.]+ ms.*Network and HTTP [\d.]+ ms/,
    );
    expect(problems).toEqual([]);
  });

  it('works from the keyboard, and an example is analyzed at once', async () => {
    const { page, problems } = await open();
    await page.getByLabel('Text', { exact: true }).focus();
    await page.keyboard.type('Wonderful.');
    await page.keyboard.press('Control+Enter');
    await page.locator('.verdict').getByText('POSITIVE').waitFor();
    const example = page.getByRole('button', { name: 'The cast is wonderful' });
    await example.focus();
    await page.keyboard.press('Enter');
    await page.locator('.timing').waitFor();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toMatch(/^The cast/);
    expect(problems).toEqual([]);
  });

  it('can be walked through with Tab, and traps nothing', async () => {
    const current = await open();
    await current.page.getByRole('button', { name: 'The cast is wonderful' }).click();
    await current.page.locator('.timing').waitFor();
    expect(await current.walk()).toEqual(
      expect.arrayContaining(['Dark theme', 'text', 'Analyze', 'API', 'Licenses']),
    );
  });

  it('says that a text was cut', async () => {
    const { page } = await open();
    await page.getByLabel('Text', { exact: true }).fill('good film '.repeat(400));
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText('The text was truncated.').waitFor();
    expect(await page.locator('.note.warn').textContent()).toContain('at most 512 tokens');
  });

  it('makes a table of lines, with the errors of single ones, and a CSV of it', async () => {
    const current = await open();
    const { page, problems } = current;
    const texts = Array.from({ length: 80 }, (_, i) => `Film number ${i} is good, "really".`);
    texts[41] = `far ${'too '.repeat(BODY_LIMIT / 3)}long`;
    texts[50] = '=1+1';
    await page.getByText('One text per line').click();
    await current.put('Texts, one per line', `\n${texts.join('\n\n')}\n`);
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText(/^POSITIVE: \d+/).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(80);
    expect(await page.locator('tbody tr').nth(41).textContent()).toMatch(
      /^84far too .*…texts\[41\]: the request body exceeds the server's limit of 20000 bytes$/,
    );
    expect(await page.getByText('1 error').count()).toBe(1);
    const { name, text } = await current.download('Download CSV');
    const rows = text.split('\r\n');
    expect([name, rows.length]).toEqual(['sentiment.csv', 82]);
    expect(rows[0]).toBe('\ufeffline,text,label,score,NEGATIVE,POSITIVE,truncated,error');
    expect(rows[1]).toMatch(
      /^2,"Film number 0 is good, ""really""\.",POSITIVE,0\.\d+,0\.\d+,0\.\d+,false,$/,
    );
    expect(rows[51]).toMatch(/^102,"'=1\+1",/);
    expect(problems).toEqual([]);
  });

  it('shows the progress of a long list, which can be cancelled', async () => {
    const current = await open();
    const { page, problems } = current;
    await page.getByText('One text per line').click();
    const texts = Array.from({ length: 3000 }, (_, i) => `A film that I saw ${i} times.`);
    await current.put('Texts, one per line', texts.join('\n'));
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.locator('tbody tr').first().waitFor();
    expect(Number(await page.getByRole('progressbar').getAttribute('value'))).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/cancelled after [\d,]+ of 3,000 lines/).waitFor();
    expect(problems).toEqual([]);
  });

  it('switches the theme and remembers it', async () => {
    const { page } = await open(LOOKS[1]);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const themeSwitch = page.getByRole('switch', { name: 'Dark theme' });
    expect(await themeSwitch.getAttribute('aria-checked')).toBe('true');
    const dark = await ground();
    await themeSwitch.click();
    expect(await themeSwitch.getAttribute('aria-checked')).toBe('false');
    expect(await ground()).not.toBe(dark);
    await page.reload();
    expect(await themeSwitch.getAttribute('aria-checked')).toBe('false');
  });

  it('says when the model is not loaded, and why', async () => {
    const broken = await startService('sentiment', {
      env: { SENTIMENT_MODEL_DIR: '/nonexistent/model' },
    });
    const current = await open(LOOKS[0], broken);
    const { page, problems } = current;
    const note = await page.locator('.note.bad').textContent();
    expect(note).toMatch(/The model is not loaded/);
    expect(note).toMatch(/config\.json|model/);
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    expect(await page.getByRole('button', { name: 'Analyze' }).isDisabled()).toBe(true);
    expect(await current.findViolations()).toEqual([]);
    expect(problems).toEqual([]);
    await broken.stop();
  });

  it('says when the service is gone, and goes on when it is back', async () => {
    const first = await startService('sentiment');
    const { page } = await open(LOOKS[0], first);
    await first.stop();
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText('The server cannot be reached.').waitFor();
    await startService('sentiment', { env: { PORT: String(first.port) } });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.verdict').waitFor();
    expect(await page.getByText('cannot be reached').count()).toBe(0);
  });

  it('says that the service is busy, and works through a list all the same', async () => {
    const env = { MAX_QUEUE_REQUESTS: '2', WORKERS: '1' };
    const small = await startService('sentiment', { env });
    const current = await open(LOOKS[0], small);
    const { page } = current;
    let isFlooding = true;
    const flood = Array.from({ length: 8 }, async () => {
      while (isFlooding) await analyze(small, 'long '.repeat(500));
    });
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    const busy = page.getByText('The server is overloaded or shutting down.');
    await until('the words that the service is busy', async () => {
      await page.getByRole('button', { name: 'Analyze' }).click();
      await page.locator('.verdict').or(busy).waitFor();
      return (await busy.count()) > 0;
    });
    expect(await page.getByText(/Try again in \d+ s/).count()).toBe(1);
    isFlooding = false;
    await Promise.all(flood);
    // A batch of five never fits into a queue of two.
    await page.getByText('One text per line').click();
    await current.put('Texts, one per line', ['a', 'b', 'c', 'd', 'e'].join('\n'));
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.locator('tbody tr').nth(4).waitFor();
    expect(await page.locator('td.failed').count()).toBe(0);
    await small.stop();
  });

  it('says that lines were not reached in time', async () => {
    // Its one worker waits for company until then. Much sooner, and a busy machine would refuse them: they
    // could not be reached in time.
    const slow = await startService('sentiment', {
      env: { REQUEST_TIMEOUT_MS: '1000', MAX_QUEUE_DELAY_MS: '60000', WORKERS: '1' },
    });
    const { page } = await open(LOOKS[0], slow);
    await page.getByText('One text per line').click();
    await page.getByLabel('Texts, one per line').fill(Array(8).fill('good').join('\n'));
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText('The request timed out.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(/deadline of 1000 ms/);
    await slow.stop();
  });

  it.each(LOOKS)('is accessible and fits: $look', async (look) => {
    const current = await open(look);
    const { page, problems } = current;
    expect(await current.findViolations()).toEqual([]);
    await page.getByRole('button', { name: 'The cast is wonderful' }).click();
    await page.locator('.timing').waitFor();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    await page.getByText('One text per line').click();
    await page.getByText('Insert example texts').click();
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.getByText(/^NEGATIVE: /).waitFor();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    expect(problems).toEqual([]);
  });

  it('has its picture taken', async () => {
    const current = await open();
    // The times of a first answer are those of a browser that is busy with its first picture.
    for (let i = 0; i < 5; i++) {
      const answer = current.page.waitForResponse('**/analyze/batch');
      await current.page.getByRole('button', { name: 'A warm, funny film' }).click();
      await (await answer).finished();
      await current.page.waitForTimeout(300);
    }
    await current.page.setViewportSize({ width: 1280, height: 700 });
    await takePicture(current, 'sentiment');
  });
});
