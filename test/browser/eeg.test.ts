import { post } from '../helpers/http';
import { startService } from '../helpers/service';
import { until } from '../helpers/until';
import { describeInBrowser, LOOKS, setStage, takePicture } from './browser';
import { answerOf, generate, MODEL, paste, signal, table, WINDOW } from './eeg-page';

describeInBrowser('the EEG page', () => {
  const stage = setStage(() => startService('eeg', MODEL));
  const { open } = stage;

  /** What the service says of a window, as the page writes it. */
  async function expected(window: readonly number[]): Promise<readonly string[]> {
    const { json } = await post(stage.service, '/predict/batch', { signals: [window] });
    const { probabilities } = (json as { results: { probabilities: Record<string, number> }[] })
      .results[0] as { probabilities: Record<string, number> };
    return Object.entries(probabilities).map(([name, p]) => `${name}${(p * 100).toFixed(1)} %`);
  }

  it('reads a pasted table, proposes the model’s channel, and answers for the window', async () => {
    const current = await open();
    const { page, problems } = current;
    const t3 = signal(1000);
    await paste(current, table(t3));
    await page.getByText('2 channels, 1,000 samples, 10.5 s at 95 Hz').waitFor();
    expect(await page.getByLabel('Channel').locator('option:checked').textContent()).toBe(
      'T3 (the model’s)',
    );
    await answerOf(current).locator('.bars').waitFor();
    expect(await answerOf(current).locator('.bars li').allTextContents()).toEqual(
      await expected(t3.slice(0, WINDOW)),
    );
    expect(await answerOf(current).locator('.timing').textContent()).toMatch(/Queue .*Inference /);
    expect(await page.getByRole('img', { name: /The window as/ }).count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it('moves the window by keyboard, buttons and a click on the signal', async () => {
    const current = await open();
    const { page, problems } = current;
    const t3 = signal(1000);
    await paste(current, table(t3));
    const slider = page.getByRole('slider', { name: 'Window' });
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    expect(await slider.getAttribute('aria-valuetext')).toBe('0.7 s to 3.4 s');
    await page.keyboard.press('PageUp');
    expect(await slider.inputValue()).toBe('320');
    await page.keyboard.press('End');
    expect(await slider.inputValue()).toBe(String(1000 - WINDOW));
    await page.getByRole('button', { name: 'Previous' }).click();
    expect(await slider.inputValue()).toBe(String(1000 - 2 * WINDOW));
    await page
      .locator('.u-over')
      .first()
      .click({ position: { x: 300, y: 60 } });
    const clicked = Number(await slider.inputValue());
    expect(clicked).not.toBe(1000 - 2 * WINDOW);
    const wanted = await expected(t3.slice(clicked, clicked + WINDOW));
    await expectSoon(() => answerOf(current).locator('.bars li').allTextContents(), wanted);
    expect(problems).toEqual([]);
  });

  it('zooms and pans', async () => {
    const current = await open();
    const { page, problems } = current;
    await paste(current, table(signal(4000)));
    const plot = page.getByRole('img', { name: /Signal of channel T3/ });
    await plot.waitFor();
    const pictures: string[] = [];
    const look = async () => pictures.push((await plot.screenshot()).toString('base64'));
    await look();
    for (const name of ['Zoom in', 'Zoom in', 'Later', 'Earlier', 'Zoom out', 'Show all']) {
      await page.getByRole('button', { name }).click();
      await look();
    }
    expect(new Set(pictures.slice(0, 4)).size).toBe(4);
    expect(pictures[6]).toBe(pictures[0]);
    const box = await page.locator('.u-over').first().boundingBox();
    const { x, y } = box as { x: number; y: number };
    await page.mouse.move(x + 100, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + 300, y + 50, { steps: 4 });
    await page.mouse.up();
    await look();
    expect(pictures[7]).not.toBe(pictures[0]);
    expect(problems).toEqual([]);
  });

  it('classifies a whole recording, and gives it as CSV', async () => {
    const current = await open();
    const { page, problems } = current;
    await generate(current, 600);
    await page.getByRole('button', { name: 'Classify 222 windows' }).click();
    await page.getByText('mean of 222 windows').waitFor();
    const counts = await page.getByRole('list', { name: 'Windows by class' }).textContent();
    const numbers = [...(counts ?? '').matchAll(/: (\d+)/g)].map(([, digits]) => Number(digits));
    expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(222);
    const { name, text } = await current.download('Download CSV');
    const rows = text.trim().split('\r\n');
    expect([name, rows.length]).toEqual(['eeg-windows.csv', 223]);
    expect(rows[0]).toMatch(
      /^recording,channel,first_sample,start_s,diagnosis,confidence,Control,/,
    );
    expect(rows[2]).toMatch(/^"Generated, 10 Hz rhythm",T3,256,2\.6947,/);
    await page.locator('.strip').click({ position: { x: 500, y: 10 } });
    expect(Number(await page.getByRole('slider', { name: 'Window' }).inputValue()) % WINDOW).toBe(
      0,
    );
    expect(problems).toEqual([]);
  });

  it('shows the progress of a long recording, which can be cancelled', async () => {
    const current = await open();
    const { page, problems } = current;
    await generate(current, 3600);
    await page.getByRole('button', { name: 'Classify 1,335 windows' }).click();
    await page.getByText(/mean of [\d,]+ windows so far/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/stopped after [\d,]+ of 1,335 windows/).waitFor();
    expect(problems).toEqual([]);
  });

  it('can be walked through with Tab, and traps nothing', async () => {
    const current = await open();
    await generate(current, 30);
    await answerOf(current).locator('.bars').waitFor();
    expect(await current.walk()).toEqual(
      expect.arrayContaining([
        'Dark theme',
        'Zoom in',
        'channel',
        'window',
        'Next',
        'Classify 11 windows',
        'API',
      ]),
    );
  });

  it.each(LOOKS)('is accessible and fits, and always says what it is not: $look', async (look) => {
    const current = await open(look);
    const { page, problems } = current;
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    await page.getByText('Paste', { exact: true }).click();
    expect(await current.findViolations()).toEqual([]);
    await generate(current, 30);
    await page.getByRole('button', { name: /^Classify/ }).click();
    await page.getByText('mean of 11 windows').waitFor();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Download CSV' }).scrollIntoViewIfNeeded();
    const box = await page.getByText('Demonstration, not a medical device.').boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(look.viewport.height / 4);
    expect(problems).toEqual([]);
  });

  it('has its picture taken', async () => {
    const current = await open();
    const { page } = current;
    await generate(current, 30);
    await page.getByRole('button', { name: 'Later' }).waitFor();
    await page.getByRole('button', { name: /^Classify/ }).click();
    await page.getByText('mean of 11 windows').waitFor();
    for (let presses = 0; presses < 3; presses++) {
      await page.getByRole('button', { name: 'Next' }).click();
    }
    await expectSoon(() => page.locator('[aria-busy=true]').count(), 0);
    for (let presses = 0; presses < 4; presses++) {
      await page.getByRole('button', { name: 'Zoom in' }).click();
    }
    await page.setViewportSize({ width: 940, height: 1062 });
    await takePicture(current, 'eeg', page.getByRole('region', { name: 'Signal' }));
  });
});

/** Waits until a value is the one that is wanted. */
async function expectSoon<Value>(read: () => Promise<Value>, wanted: unknown): Promise<void> {
  await until(JSON.stringify(wanted), async () => {
    return JSON.stringify(await read()) === JSON.stringify(wanted);
  });
}
