import { post } from '../helpers/http';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks } from './browser';

const LINES = ['A quiet marvel. \u{1f600}', 'Two hours.', 'It is dull.', 'In Iceland, in summer.'];

describeInBrowser('the page of a model of vectors', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
    directory.text('prompted', '../embeddings/sentences/v3-cls-prompts');
    return directory.start({ env: { MAX_LIST_LENGTH: '30' } });
  }, '/models/vectors/');

  afterAll(() => directory.folder.remove());

  it('compares lines, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Texts, one per line').focus();
    await page.keyboard.insertText(`\n${LINES.join('\n')}`);
    await page.keyboard.press('Control+Enter');
    await page.locator('.map svg').waitFor();
    const names = LINES.map((text, index) => `${index + 2}: ${text}`);
    const points = page.getByRole('option');
    expect(
      await points.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))),
    ).toEqual(names);

    const { json } = await post(stage.service, '/models/vectors/embed', { inputs: LINES });
    const vectors = json as readonly (readonly number[])[];
    const cosines = vectors.map((a) =>
      vectors.map((b) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)),
    );
    const rows = await page.locator('.matrix tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
    expect(cells).toEqual(cosines.map((row) => row.map((value) => value.toFixed(2))));
    expect(await page.getByRole('columnheader').allTextContents()).toEqual([
      ...['Line', '2', '3', '4', '5'],
    ]);
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(
      LINES.map((text, index) => `${index + 2}${text}`),
    );

    expect(await visit.walk()).toEqual(
      expect.arrayContaining(['lines', 'Compare', names[0], 'Similarity matrix']),
    );
    await points.first().focus();
    for (const [key, chosen] of [
      ['ArrowRight', 1],
      ['End', 3],
      ['ArrowDown', 3],
      ['ArrowLeft', 2],
      ['Home', 0],
      ['ArrowDown', 1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await page.locator('[aria-selected="true"]').getAttribute('aria-label')).toBe(
        names[chosen],
      );
      expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe(names[chosen]);
    }
    const row = cosines[1] ?? [];
    const best = row.indexOf(Math.max(...row.filter((_, i) => i !== 1)));
    expect(await page.locator('.chosen-line').textContent()).toMatch(
      new RegExp(`^3 Two hours\\. +Most similar: line ${best + 2} \\(`),
    );
    expect(await page.locator('tr.chosen th').textContent()).toBe('3Two hours.');
    expect(problems).toEqual([]);
  });

  it('puts a prompt of the model before lines', async () => {
    const { page } = await stage.open();
    await page.goto(`${stage.service.origin}/models/prompted/`);
    await page.getByLabel('Texts, one per line').fill(LINES.join('\n'));
    const prompts = page.getByLabel('Prompt before each text');
    const asked: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/embed')) asked.push(request.postDataJSON().prompt_name);
    });
    const names = await prompts
      .locator('option')
      .evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
    expect(names.length).toBeGreaterThan(1);
    for (const name of names) {
      await prompts.selectOption(name);
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.getByRole('button', { name: 'Compare', exact: true }).waitFor();
      await page.locator('.timing').waitFor();
    }
    expect(asked).toEqual(names.map((name) => (name === '' ? undefined : name)));
  });

  it('says how many lines it takes, and what the service refuses', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const lines = Array.from({ length: 50 }, (_, i) => `Line ${i}`);
    await page.getByLabel('Texts, one per line').fill(lines.join('\n'));
    await page.getByText('50 lines; first 40 used').waitFor();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.locator('.note.bad').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(/40.*30/);
    expect(await visit.findViolations()).toEqual([]);
    await page.getByLabel('Texts, one per line').fill('One line');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.locator('.map svg').waitFor();
    expect(await page.locator('.matrix').count()).toBe(0);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Compare an example' }).click();
    await page.locator('.timing').waitFor();
  });
});
