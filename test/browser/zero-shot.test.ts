import { post } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks } from './browser';

const TEXT = 'The film is a quiet marvel. \u{1f600}';
const LABELS = ['sports', '2', '1', 'cinema']; // names that an object would put in another order

describeInBrowser('the page of an entailment model', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
    const files = { 'config.json': { id2label } };
    modelWith(directory.folder, 'roberta-three-labels-float16', files, 'nli');
    return directory.start();
  }, '/models/nli/');

  afterAll(() => directory.folder.remove());

  async function barsOf(body: object): Promise<readonly string[]> {
    const asked = { text: TEXT, candidate_labels: LABELS, ...body };
    const { json } = await post(stage.service, '/models/nli/zero-shot', asked);
    const { labels, scores } = json as { labels: string[]; scores: number[] };
    return labels.map((label, i) => `${label}${((scores[i] ?? 0) * 100).toFixed(1)} %`);
  }

  it('classifies by labels of its own, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    const bars = page.getByRole('list', { name: 'Probability' }).locator('li');
    await page.getByLabel('Text', { exact: true }).focus();
    await page.keyboard.insertText(TEXT);
    await page.keyboard.press('Tab');
    await page.keyboard.insertText(LABELS.join('\n'));
    await page.keyboard.press('Control+Enter');
    await page.getByText('add up to 100 %').waitFor();
    expect(await bars.allTextContents()).toEqual(await barsOf({}));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('It is {}.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Control+Enter');
    await page.getByText('entailment versus contradiction').waitFor();
    expect(await bars.allTextContents()).toEqual(
      await barsOf({ hypothesis_template: 'It is {}.', multi_label: true }),
    );
    expect(await visit.walk()).toEqual(
      expect.arrayContaining(['text', 'labels', 'template', 'Classify']),
    );
    expect(problems).toEqual([]);
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await page.getByLabel('Labels').fill('cinema');
    await page.getByLabel('Hypothesis').fill('It is {.');
    await page.getByRole('button', { name: 'Classify' }).click();
    await page.getByText('The server rejected this input.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(/^hypothesis_template: /);
    expect(await visit.findViolations()).toEqual([]);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'My parcel' }).click();
    await page.locator('.timing').waitFor();
  });
});
