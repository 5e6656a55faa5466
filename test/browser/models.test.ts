import { FIRST, ModelsDirectory, SECOND } from '../helpers/models-directory';
import { describeInBrowser, LOOKS, setStage } from './browser';

describeInBrowser('the page of a directory of models', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    directory.text('films', FIRST, { aliases: ['movies'], required: true });
    directory.text('reviews', SECOND);
    directory.signal('waves');
    directory.write('broken/config.json', '{');
    return directory.start();
  });

  afterAll(() => directory.folder.remove());

  it('lists them, says why one does not answer, and leads to the page of each', async () => {
    const { page, problems } = await stage.open();
    const rows = await page.locator('tbody tr').allTextContents();
    expect(rows).toEqual([
      expect.stringMatching(/^broken–1 failedconfig\.json: is not JSON/),
      expect.stringMatching(/^films alias: movies default requiredtext-classification1 ready/),
      expect.stringMatching(/^reviewstext-classification1 ready/),
      expect.stringMatching(/^waves defaultsignal-classification1 ready/),
    ]);
    expect(await page.locator('.badge').textContent()).toBe('3 of 4 ready');
    await page.getByRole('link', { name: 'reviews' }).click();
    await page.getByText('One text', { exact: true }).waitFor();
    await page.getByLabel('Text', { exact: true }).fill('A warm, funny film.');
    await page.getByRole('button', { name: 'Analyze' }).click();
    await page.locator('.verdict').waitFor();
    expect(page.url()).toBe(`${stage.service.origin}/models/reviews/`);
    await page.getByRole('link', { name: 'All models' }).click();
    await page.locator('tbody tr').first().waitFor();
    expect(page.url()).toBe(`${stage.service.origin}/`);
    await page.goto(`${stage.service.origin}/models/waves/`);
    await page.getByText('not a medical device').first().waitFor();
    expect(problems).toEqual([]);
  });

  it.each(LOOKS)('is accessible and fits: $look', async (look) => {
    const current = await stage.open(look);
    await current.page.getByRole('link', { name: 'films' }).waitFor();
    expect(await current.findViolations()).toEqual([]);
    expect(await current.overflow()).toBe(0);
  });
});
