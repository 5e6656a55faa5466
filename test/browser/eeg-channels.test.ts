import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CHANNELS, CLASSES, golden, MODEL, RATE, STEP } from '../helpers/multichannel';
import { startService } from '../helpers/service';
import { describeInBrowser, LOOKS, setStage, type Visit } from './browser';
import { openFile } from './eeg-page';

const RECORDING = ['recording.vhdr', 'recording.vmrk', 'recording.eeg'];
/** Channels of the recording; the first is not one of the model. */
const RECORDED = ['EOG', ...CHANNELS];
const WINDOWS = golden.windows.length;

describeInBrowser('the EEG page of a model of several channels', () => {
  const stage = setStage(() =>
    startService('eeg', { env: { EEG_MODEL_PATH: path.join(MODEL, 'eeg_model.pt') } }),
  );
  const { open } = stage;

  async function openRecording({ page }: Visit): Promise<void> {
    await page
      .getByLabel('Open a recording')
      .setInputFiles(RECORDING.map((name) => path.join(MODEL, name)));
    await page.getByRole('list', { name: 'Channels', exact: true }).waitFor();
  }

  async function classify({ page }: Visit): Promise<void> {
    await page.getByRole('button', { name: 'Classify the recording' }).click();
    await page.getByText(`Classified: ${WINDOWS} windows.`).waitFor();
  }

  /** Bars of the window at the cursor: class and percent. */
  async function barsOf({ page }: Visit): Promise<readonly (readonly [string, number])[]> {
    const list = page.getByRole('list', { name: 'Probability of each label' });
    await list.waitFor();
    return (await list.locator('li').allTextContents()).map((text) => {
      const [, name, value] = /^(\D+)([\d.]+) %$/.exec(text) ?? [];
      return [name ?? text, Number(value)] as const;
    });
  }

  /** Percent with a decimal, of probabilities with four. */
  function expectBars(
    bars: readonly (readonly [string, number])[],
    wanted: readonly number[] | undefined,
  ): void {
    expect(bars.map(([name]) => name)).toEqual(CLASSES);
    for (const [index, [, value]] of bars.entries()) {
      expect(Math.abs(value - 100 * (wanted?.[index] ?? Number.NaN))).toBeLessThan(0.061);
    }
  }

  it('shows all channels, with their quality as text', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    const items = page.getByRole('list', { name: 'Channels', exact: true }).locator('li');
    expect(await items.locator('.name').allTextContents()).toEqual(RECORDED);
    await items.nth(1).getByText('peak to peak').waitFor();
    const texts = await items.allTextContents();
    expect(texts[0]).toMatch(/EOG, not used by the model, .+ peak to peak, mains share [\d.]+ %$/);
    expect(texts[1]).toMatch(/Fp1, .+ peak to peak/);
    expect(problems).toEqual([]);
  });

  it('gives the probabilities of the stream for the window under the cursor', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    await classify(current);
    const cursor = page.getByRole('slider', { name: 'Cursor in the signals' });
    await cursor.press('Home');
    for (let index = 0; index < WINDOWS; index++) {
      expectBars(await barsOf(current), golden.windows[index]);
      const at = Number(await cursor.getAttribute('aria-valuenow'));
      expect(at).toBeCloseTo((index * STEP) / RATE, 2);
      if (index < WINDOWS - 1) await cursor.press('Shift+ArrowRight');
    }
    expect(await cursor.getAttribute('aria-valuetext')).toMatch(/^\d\.\d s, (left|right|rest) /);
    await page.getByRole('button', { name: 'Previous' }).click();
    expectBars(await barsOf(current), golden.windows[WINDOWS - 2]);
    const { text } = await current.download('Download CSV');
    expect(text.trim().split('\r\n')).toHaveLength(1 + WINDOWS);
    expect(problems).toEqual([]);
  });

  it('gives the probabilities of each window alone', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    await page.getByLabel('Send windows').selectOption('alone');
    await page.getByText('the probabilities differ from those of a recording').waitFor();
    await page.getByRole('button', { name: 'Classify the recording' }).click();
    // The windows lie side by side, and those of the golden results overlap by half.
    await page.getByText('Classified: 5 windows.').waitFor();
    expectBars(await barsOf(current), golden.alone[0]);
    await page.getByRole('button', { name: 'Next' }).click();
    expectBars(await barsOf(current), golden.alone[2]);
    expect(problems).toEqual([]);
  });

  it('moves, zooms and scales by keys, wheel and buttons', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    const canvas = page.getByRole('slider', { name: 'Cursor in the signals' });
    const scale = page.getByLabel('Scale', { exact: true });
    const scales = [await scale.textContent()];
    await canvas.press('-');
    scales.push(await scale.textContent());
    await canvas.press('+');
    scales.push(await scale.textContent());
    await page.getByRole('button', { name: 'Larger signals' }).click();
    scales.push(await scale.textContent());
    expect(scales[2]).toBe(scales[0]);
    expect(new Set(scales).size).toBe(3);
    expect(scales[0]).toMatch(/^\d+ µV\/division$/);
    const looks = new Set<string>();
    const look = async () => looks.add((await canvas.screenshot()).toString('base64'));
    await look();
    await canvas.press('ArrowUp');
    await look();
    await canvas.hover();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await look();
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, 100);
    await page.keyboard.up('Shift');
    await look();
    await canvas.press('PageDown');
    await look();
    expect(looks.size).toBe(5);
    expect(problems).toEqual([]);
  });

  it('filters the drawing and not what the server gets', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    const canvas = page.getByRole('slider', { name: 'Cursor in the signals' });
    const before = (await canvas.screenshot()).toString('base64');
    await page.getByLabel('Low-pass').selectOption('15');
    await page.getByLabel('Notch').selectOption('50');
    await page.getByText('The filter changes the drawing only').waitFor();
    expect((await canvas.screenshot()).toString('base64')).not.toBe(before);
    await classify(current);
    await canvas.press('Home');
    expectBars(await barsOf(current), golden.windows[0]);
    await page.getByLabel('Low-pass').selectOption('70');
    await page.getByText(/expected a frequency below half the sampling rate/).waitFor();
    expect(problems).toEqual([]);
  });

  it('plays all channels as a live stream', async () => {
    const current = await open();
    const { page, problems } = current;
    await openRecording(current);
    await page.getByRole('slider', { name: 'Speed' }).press('Home');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const card = page.getByRole('region', { name: 'Live stream' });
    await card.getByText('End of the recording. Classified: 9 windows.').waitFor();
    // The table has the last eight windows, the newest first.
    const rows = await card.locator('tbody tr').allTextContents();
    const wanted = golden.windows.slice(1).map((scores) => {
      const top = Math.max(...scores);
      // The server rounds to four decimals.
      return `${CLASSES[scores.indexOf(top)]} ${(100 * Number(top.toFixed(4))).toFixed(1)} %`;
    });
    expect(rows.reverse().map((row) => /(left|right|rest) [\d.]+ %/.exec(row)?.[0])).toEqual(
      wanted,
    );
    expect(problems).toEqual([]);
  });

  it('says why a model takes no streams, and classifies each window alone', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'zero-phase-'));
    const settings = readFileSync(path.join(MODEL, 'eeg_model.json'), 'utf8');
    writeFileSync(path.join(folder, 'eeg_model.json'), settings.replace('"causal"', '"zero"'));
    copyFileSync(path.join(MODEL, 'eeg_model.pt'), path.join(folder, 'eeg_model.pt'));
    const service = await startService('eeg', {
      env: { EEG_MODEL_PATH: path.join(folder, 'eeg_model.pt') },
    });
    const current = await open(undefined, service);
    const { page } = current;
    await openRecording(current);
    await page.getByRole('button', { name: 'Classify the recording' }).click();
    await page
      .getByRole('alert')
      .getByText(/streams need "phase": "causal"/)
      .waitFor();
    await page.getByLabel('Send windows').selectOption('alone');
    await page.getByRole('button', { name: 'Classify the recording' }).click();
    await page.getByText('Classified: 5 windows.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it('says which channels are missing, and interpolates one', async () => {
    const current = await open();
    const { page, problems } = current;
    const csv = (names: readonly string[]) => {
      const columns = names.map((name) => golden.signal[RECORDED.indexOf(name) - 1] ?? []);
      const rows = (columns[0] ?? []).map((_, i) =>
        [(i / RATE).toFixed(7), ...columns.map((column) => column[i])].join(','),
      );
      return Buffer.from([`time,${names.join(',')}`, ...rows].join('\n'));
    };
    await openFile(page, 'four.csv', csv(['Fp1', 'Fp2', 'Cz', 'O1']));
    await page.getByText('The server interpolates O2.').waitFor();
    await classify(current);
    await page.getByText('Interpolated: O2.').waitFor();
    await openFile(page, 'other.csv', Buffer.from('time,A,B\n0,1,2\n0.01,2,3\n0.02,3,4\n'));
    await page.getByText('The recording has no channels Fp1, Fp2, Cz, O1, O2.').waitFor();
    expect(await page.getByRole('button', { name: 'Classify the recording' }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it.each(LOOKS)('is accessible and fits: $look', async (look) => {
    const current = await open(look);
    const { problems } = current;
    await openRecording(current);
    await classify(current);
    await current.page.getByText(/^Quality of the visible time/).click();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    expect(await current.walk()).toEqual(
      expect.arrayContaining(['Cursor in the signals', 'high-pass', 'method', 'Next']),
    );
    if (process.env.SCREENSHOTS) {
      await current.page.screenshot({
        path: path.join(process.env.SCREENSHOTS, `channels-${look.look}.png`),
        fullPage: true,
      });
    }
    expect(problems).toEqual([]);
  });
});
