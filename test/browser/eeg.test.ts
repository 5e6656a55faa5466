import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { makeEdf } from '../helpers/edf';
import { post } from '../helpers/http';
import { seededRandom } from '../helpers/random';
import { FIXTURES, killAll, ROOT, type Service, startService } from '../helpers/service';
import { describeInBrowser, LOOKS, launch, takePicture, Visit } from './browser';

const MODEL = { env: { EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt') } };
const WINDOW = 256;

/** A rhythm and some noise, in microvolts. */
function signal(length: number, { hz = 10, rate = 95, seed = 1 } = {}): number[] {
  const random = seededRandom(seed);
  return Array.from({ length }, (_, i) => {
    const value = 20 * Math.sin((2 * Math.PI * hz * i) / rate) + 15 * (random() - 0.5);
    return Math.round(value * 10) / 10;
  });
}

/** Two channels with a column of times, at 95 Hz unless said otherwise. */
function table(t3: readonly number[], rate = 95): string {
  const rows = t3.map((value, i) => `${(i / rate).toFixed(5)},${(i * 7) % 13},${value}`);
  return ['time,Fp1,T3', ...rows].join('\n');
}

describeInBrowser('the EEG page', () => {
  let browser: Browser;
  let service: Service;
  let visit: Visit | undefined;

  beforeAll(async () => {
    [browser, service] = await Promise.all([launch(), startService('eeg', MODEL)]);
  });

  afterEach(async () => {
    await visit?.close();
    visit = undefined;
  });

  afterAll(async () => {
    await browser?.close();
    await killAll();
  });

  async function open(look = LOOKS[0] as (typeof LOOKS)[number], at = service): Promise<Visit> {
    visit = await Visit.open(browser, at, look);
    return visit;
  }

  async function paste(current: Visit, text: string): Promise<void> {
    await current.page.getByText('Paste', { exact: true }).click();
    await current.put('Numbers:', text);
    await current.page.getByRole('button', { name: 'Read' }).click();
  }

  const generate = async ({ page }: Visit, seconds: number) => {
    await page.getByText('Generate', { exact: true }).first().click();
    await page.getByLabel('Length, s').fill(String(seconds));
    await page.getByRole('button', { name: 'Generate' }).click();
  };

  const openFile = (page: Page, name: string, buffer: Buffer) =>
    page.getByLabel('Open a CSV or EDF file').setInputFiles({ name, mimeType: '', buffer });

  const answerOf = ({ page }: Visit) =>
    page.getByRole('region', { name: 'Answer for this window' });

  /** What the service says of a window, as the page writes it. */
  async function expected(window: readonly number[]): Promise<readonly string[]> {
    const { json } = await post(service, '/predict/batch', { signals: [window] });
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

  it('opens EDF, points out another sampling rate, and resamples', async () => {
    const { page, problems } = await open();
    const digital = signal(250 * 20, { rate: 250 }).map((value) => Math.round(value * 10));
    const channel = { label: 'EEG T3-Ref', unit: 'uV', perRecord: 250, digital };
    await openFile(page, 'a.edf', makeEdf({ channels: [channel], recordSeconds: 1 }));
    await page.getByText('Recorded at 250 Hz, but the model was made for 95 Hz.').waitFor();
    expect(await page.getByRole('button', { name: 'Classify 19 windows' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Resample to 95 Hz' }).click();
    await page.getByText('Resampled from 250 Hz to 95 Hz.').waitFor();
    await page.getByRole('button', { name: 'Classify 7 windows' }).waitFor();
    await page.getByRole('button', { name: 'Use the original' }).click();
    await page.getByRole('button', { name: 'Resample to 95 Hz' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('asks for a sampling rate that the file does not say, and warns of a missing channel', async () => {
    const { page } = await open();
    const text = ['Fp1', ...signal(600)].join('\n').replaceAll('.', ',');
    await openFile(page, 'a.csv', Buffer.from(text.replaceAll('\n', ';\n')));
    await page.getByText('The recording does not say its sampling rate.').waitFor();
    await page.getByText('The model was trained on channel T3.').waitFor();
    await page.getByLabel('Sampling rate, Hz').fill('190');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Resample to 95 Hz' }).click();
    await page.getByRole('button', { name: 'Classify 1 window' }).waitFor();
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

  it('takes a dropped file, and says of a bad one what is wrong where', async () => {
    const { page, problems } = await open();
    const drop = async (name: string, text: string) => {
      const transfer = await page.evaluateHandle(
        ([name, text]) => {
          const data = new DataTransfer();
          data.items.add(new File([text as string], name as string));
          return data;
        },
        [name, text],
      );
      await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer });
    };
    await drop('bad.csv', 'T3\n1\n2\noops\n4');
    await page.getByText('bad.csv, line 4: “T3” holds "oops"').waitFor();
    await drop('good.csv', table(signal(300)));
    await page.getByText('good.csv').waitFor();
    expect(await page.getByText('oops').count()).toBe(0);
    await drop('short.csv', '1\n2\n3');
    await page.getByText('This channel is shorter than a window.').waitFor();
    expect(problems).toEqual([]);
  });

  it('survives files of any content', async () => {
    const { page, problems } = await open();
    const random = seededRandom(5);
    const edf = makeEdf({
      channels: [{ label: 'T3', unit: 'uV', perRecord: 100, digital: signal(400).map(Math.round) }],
      recordSeconds: 1,
    });
    for (let round = 0; round < 40; round++) {
      const file = Buffer.from(round % 2 === 0 ? edf : Buffer.from(table(signal(40))));
      for (let edit = 0; edit < 12; edit++) {
        file[8 + Math.floor(random() * (file.length - 8))] = Math.floor(random() * 256);
      }
      await openFile(page, `file-${round}`, file.subarray(0, 20 + random() * file.length));
      await page.locator('section').first().getByText(`file-${round}`).first().waitFor();
    }
    expect(problems).toEqual([]);
  });

  it('says when the model is not loaded, and when the service is gone', async () => {
    const broken = await startService('eeg', {
      env: { EEG_MODEL_PATH: '/nonexistent/eeg_model.pt' },
    });
    const current = await open(LOOKS[0], broken);
    await current.page
      .getByText('The model is not loaded, so nothing can be computed here.')
      .waitFor();
    await current.page.getByRole('button', { name: 'Make one up' }).click();
    await current.page.getByRole('img', { name: /Signal of channel/ }).waitFor();
    expect(await current.page.getByRole('slider').count()).toBe(0);
    expect(await current.findViolations()).toEqual([]);
    await broken.stop();
    await current.close();

    const dying = await startService('eeg', MODEL);
    const other = await open(LOOKS[0], dying);
    await paste(other, table(signal(600)));
    await other.page.locator('.bars').waitFor();
    await dying.stop();
    await other.page.getByRole('button', { name: 'Next' }).click();
    await other.page.getByText('The service cannot be reached.').waitFor();
    await other.page.getByRole('button', { name: /^Classify/ }).click();
    await other.page.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  });

  it('takes windows, classes and rate from the model', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'eeg-page-'));
    const file = path.join(folder, 'mine.pt');
    copyFileSync(path.join(FIXTURES, 'eeg', 'short-windows.pt'), file);
    const classes = ['wake', 'N1', 'N2', 'N3'];
    const settings = { classes, window_length: 100, sampling_rate_hz: 50, output: 'probabilities' };
    writeFileSync(path.join(folder, 'mine.json'), JSON.stringify(settings));
    const other = await startService('eeg', { env: { EEG_MODEL_PATH: file } });
    const { page, problems } = await open(LOOKS[0], other);
    await page.getByRole('button', { name: 'Make one up' }).click();
    await page.getByText('0.0 s to 2.0 s').waitFor();
    await answerOf(visit as Visit)
      .locator('.bars')
      .waitFor();
    expect(
      await answerOf(visit as Visit)
        .locator('.bars .wrap')
        .allTextContents(),
    ).toEqual(classes);
    await page.getByRole('button', { name: 'Classify 30 windows' }).waitFor();
    expect(problems).toEqual([]);
    await other.stop();
    rmSync(folder, { recursive: true });
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
  for (let tries = 0; tries < 300; tries++) {
    if (JSON.stringify(await read()) === JSON.stringify(wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await read()).toEqual(wanted);
}
