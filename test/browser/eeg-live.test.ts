import { post } from '../helpers/http';
import { type Service, startService } from '../helpers/service';
import { TcpProxy } from '../helpers/tcp-proxy';
import { until } from '../helpers/until';
import { describeInBrowser, LOOKS, setStage, type Visit } from './browser';
import { generate, MODEL, paste, signal, table, WINDOW } from './eeg-page';

/** In the singular of one alone. */
const STOPPED = /^Stopped after (?:1 window|(?!1 )\d+ windows)\.$/;

describeInBrowser('the live stream of the EEG page', () => {
  const stage = setStage(() => startService('eeg', MODEL));
  const { open } = stage;

  function card({ page }: Visit) {
    return page.getByRole('region', { name: 'Live stream' });
  }

  /** At 60 times the speed; at the recording's own, so that it does not end before it is paused or stopped. */
  const [FAST, SLOW] = ['End', 'Home'];

  async function play({ page }: Visit, speed: string, settings: Readonly<Record<string, string>>) {
    for (const [label, value] of Object.entries(settings)) {
      await page.getByLabel(label).selectOption(value);
    }
    await page.getByRole('slider', { name: 'Speed' }).press(speed);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
  }

  /** Rows of the table, the oldest first. */
  async function rowsOf(visit: Visit): Promise<readonly (readonly string[])[]> {
    const rows = await card(visit).locator('tbody tr').all();
    const cells = rows.map((row) => row.locator('td').allTextContents());
    return (await Promise.all(cells)).reverse();
  }

  function countsOf({ page }: Visit, list: string): Promise<readonly string[]> {
    return page.getByRole('list', { name: list, exact: true }).locator('li').allTextContents();
  }

  it('plays at 60 times the speed, and answers each window as predict does', async () => {
    const current = await open();
    const { page, problems } = current;
    const samples = signal(7 * WINDOW + 100);
    await paste(current, table(samples));
    await play(current, FAST, { 'From window to window': 'window' });
    await page.getByText('Classified: 7 windows.').waitFor();
    const signals = Array.from({ length: 7 }, (_, i) =>
      samples.slice(i * WINDOW, (i + 1) * WINDOW),
    );
    const { json } = await post(stage.service, '/predict/batch', { signals });
    const { results } = json as { results: { diagnosis: string; confidence: number }[] };
    expect(await rowsOf(current)).toEqual(
      results.map(({ diagnosis, confidence }, index) => [
        String(index),
        `${((index * WINDOW) / 95).toFixed(1)} s`,
        `${diagnosis} ${(confidence * 100).toFixed(1)} %`,
      ]),
    );
    expect(problems).toEqual([]);
  });

  it('moves while it plays, stands while it is paused, and comes to all windows', async () => {
    const current = await open();
    const { page, problems } = current;
    await generate(current, 300);
    await page.getByRole('button', { name: 'Classify 111 windows' }).click();
    await page.getByText('mean of 111 windows').waitFor();
    await play(current, SLOW, { 'From window to window': 'window' });
    const canvas = card(current).locator('canvas');
    const look = async () => (await canvas.screenshot()).toString('base64');
    const first = await look();
    await until('another picture', async () => (await look()) !== first);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused.').waitFor();
    let before = '';
    await until('a picture that stands', async () => {
      const now = await look();
      const stands = now === before;
      before = now;
      return stands;
    });
    await page.getByRole('slider', { name: 'Speed' }).press(FAST);
    await page.getByRole('button', { name: 'Go on' }).press('Enter');
    await page.getByText('Classified: 111 windows.').waitFor();
    expect([...(await countsOf(current, 'Streamed windows by class'))].sort()).toEqual(
      [...(await countsOf(current, 'Windows by class'))].sort(),
    );
    expect(problems).toEqual([]);
  });

  it('is resampled by the service, is smoothed, and can be stopped and played again', async () => {
    const current = await open();
    const { page, problems } = current;
    await page.getByText('Generate', { exact: true }).first().click();
    await page.getByLabel('Sampling rate, Hz').fill('256');
    await generate(current, 3600);
    await play(current, FAST, { 'From window to window': 'quarter', Smoothing: 'median' });
    await card(current).getByText('The server resamples to 95 Hz').waitFor();
    await card(current).getByText('smoothed:').first().waitFor();
    expect(await page.getByLabel('Smoothing').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(STOPPED).waitFor();
    await page.getByRole('button', { name: 'Play again' }).click();
    await page.getByText('Playing.').waitFor();
    // What was said of a recording goes with it.
    await generate(current, 30);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    expect(await card(current).locator('canvas').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('says in words what a window looks like', async () => {
    const current = await open();
    const { page, problems } = current;
    const flat = Array.from({ length: WINDOW }, () => 3);
    const hum = Array.from({ length: WINDOW }, (_, i) => 40 * Math.sin(i));
    const cut = hum.map((value) => Math.max(-20, Math.min(20, value)));
    await paste(current, table([...signal(WINDOW), ...flat, ...cut]));
    await play(current, FAST, { 'From window to window': 'window' });
    await page.getByText('Classified: 3 windows.').waitFor();
    const rows = await rowsOf(current);
    expect(rows.map(([, , answer]) => /%(.*)$/.exec(answer ?? '')?.[1])).toEqual([
      '',
      'flat',
      'clipped',
    ]);
    expect(await countsOf(current, 'Streamed windows by class')).toEqual(
      expect.arrayContaining(['flat: 1', 'clipped: 1']),
    );
    expect(problems).toEqual([]);
  });

  it('goes on where its connection breaks', async () => {
    const proxy = await TcpProxy.start(stage.service);
    const current = await open(undefined, proxy as unknown as Service);
    const { page } = current;
    await generate(current, 300);
    await play(current, SLOW, { 'From window to window': 'window' });
    for (let cuts = 0; cuts < 3; cuts++) {
      const newest = async () => (await rowsOf(current)).at(-1)?.[0];
      const before = await newest();
      await until('another window', async () => (await newest()) !== before);
      proxy.cut();
    }
    await page.getByRole('slider', { name: 'Speed' }).press(FAST);
    await page.getByText('Classified: 111 windows.').waitFor();
    await proxy.stop();
    await page.getByRole('button', { name: 'Play again' }).click();
    await page.getByText('The connection is lost. Trying again…').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped after 0 windows.').waitFor();
  });

  it.each(LOOKS)('is accessible and fits: $look', async (look) => {
    const current = await open(look);
    const { page, problems } = current;
    await generate(current, 600);
    await play(current, SLOW, { Smoothing: 'exponential' });
    await card(current).locator('tbody tr').first().waitFor();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    expect(await current.walk()).toEqual(
      expect.arrayContaining(['speed', 'Pause', 'Stop', 'The last windows']),
    );
    await page.getByRole('button', { name: 'Stop' }).press('Enter');
    await page.getByText(STOPPED).waitFor();
    expect([await current.findViolations(), await current.overflow()]).toEqual([[], 0]);
    expect(problems).toEqual([]);
  });
});
