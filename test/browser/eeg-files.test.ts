import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { makeEdf } from '../helpers/edf';
import { seededRandom } from '../helpers/random';
import { FIXTURES, startService } from '../helpers/service';
import { describeInBrowser, LOOKS, setStage } from './browser';
import { answerOf, MODEL, openFile, paste, signal, table } from './eeg-page';

describeInBrowser('the EEG page, with files and models of all kinds', () => {
  const stage = setStage(() => startService('eeg', MODEL));
  const { open } = stage;

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
    await page.getByText('bad.csv, line 4: “T3” is "oops"').waitFor();
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

  const fixture = (name: string) => readFileSync(path.join(FIXTURES, 'recordings', name));
  const openFixtures = (page: Page, ...names: string[]) =>
    page
      .getByLabel('Open a recording')
      .setInputFiles(names.map((name) => ({ name, mimeType: '', buffer: fixture(name) })));

  it('opens BDF, XDF and the three files of BrainVision', async () => {
    const { page, problems } = await open();
    const summary = page.getByRole('region', { name: 'Recording' });
    await openFixtures(page, 'biosemi.bdf');
    await summary.getByText('2 channels, 256 samples, 4.0 s at 64 Hz, 3 annotations').waitFor();
    for (const name of ['streams.xdf', 'streams.xdfz']) {
      await openFixtures(page, name);
      await summary.getByText(name).first().waitFor();
      await summary.getByText('5 channels, 1,000 samples, 4.0 s at 250 Hz').waitFor();
      await summary.getByText('“markers 5 1” is skipped').waitFor();
    }
    const base = 'pybv-binary_int16';
    await openFixtures(page, `${base}.eeg`, `${base}.vhdr`, `${base}.vmrk`);
    await summary.getByText('3 channels, 300 samples, 3.0 s at 100 Hz, 3 annotations').waitFor();
    await openFixtures(page, `${base}.vhdr`);
    await summary.getByText(`the data file “${base}.eeg” is missing`).waitFor();
    await openFixtures(page, 'biosemi.bdf', 'streams.xdf');
    await summary.getByText('2 files: open one recording').waitFor();
    expect(problems).toEqual([]);
  });

  it('shows gaps and annotations, and moves the window only between gaps', async () => {
    const visit = await open();
    const { page, problems } = visit;
    // Six records of 4 s; a pause of 60 s after the third one.
    const starts = [0, 4, 8, 72, 76, 80];
    const text = (start: number) => `+${start}\x14\x14\0+${start + 1}\x14open eyes\x14`;
    const marks = starts.flatMap((start) => [
      ...new Int16Array(Uint8Array.from(Buffer.from(text(start).padEnd(60, '\0'))).buffer),
    ]);
    const digital = signal(95 * 4 * 6).map((value) => Math.round(value * 10));
    const channels = [
      { label: 'T3', unit: 'uV', perRecord: 95 * 4, digital },
      { label: 'EDF Annotations', unit: '', perRecord: 30, digital: marks },
    ];
    await openFile(page, 'a.edf', makeEdf({ channels, recordSeconds: 4, reserved: 'EDF+D' }));
    await page.getByText('24.0 s at 95 Hz, 1 gap, 6 annotations').waitFor();
    // 1140 samples on each side of the gap: 4 windows of 256 each.
    await page.getByRole('button', { name: 'Classify 8 windows' }).click();
    await page.getByText('mean of 8 windows').waitFor();
    const position = page.locator('output[for=window]');
    for (let click = 0; click < 4; click++) {
      await page.getByRole('button', { name: 'Next' }).click();
    }
    expect(await position.textContent()).toBe('1:12.0 to 1:14.7');
    await page.locator('#window').fill('1200');
    expect(await position.textContent()).toBe('1:12.6 to 1:15.3');
    await page.locator('.is-old').waitFor({ state: 'detached' });
    expect(await visit.findViolations()).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('says when the model is not loaded, and when the service is gone', async () => {
    const broken = await startService('eeg', {
      env: { EEG_MODEL_PATH: '/nonexistent/eeg_model.pt' },
    });
    const current = await open(LOOKS[0], broken);
    await current.page.getByText('The model is not loaded.').waitFor();
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
    await other.page.getByText('The server cannot be reached.').waitFor();
    await other.page.getByRole('button', { name: /^Classify/ }).click();
    await other.page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
  });

  it('takes windows, classes and rate from the model', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'eeg-page-'));
    const file = path.join(folder, 'mine.pt');
    copyFileSync(path.join(FIXTURES, 'eeg', 'short-windows.pt'), file);
    const classes = ['wake', 'N1', 'N2', 'N3'];
    const settings = { classes, window_length: 100, sampling_rate_hz: 50, output: 'probabilities' };
    writeFileSync(path.join(folder, 'mine.json'), JSON.stringify(settings));
    const other = await startService('eeg', { env: { EEG_MODEL_PATH: file } });
    const visit = await open(LOOKS[0], other);
    const { page, problems } = visit;
    await page.getByRole('button', { name: 'Make one up' }).click();
    await page.getByText('0.0 s to 2.0 s').waitFor();
    await answerOf(visit).locator('.bars').waitFor();
    expect(await answerOf(visit).locator('.bars .wrap').allTextContents()).toEqual(classes);
    await page.getByRole('button', { name: 'Classify 30 windows' }).waitFor();
    expect(problems).toEqual([]);
    await other.stop();
    rmSync(folder, { recursive: true });
  });
});
