import { post } from '../helpers/http';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks, type Visit } from './browser';

const TEXT = '\u{1f600} Berlin is a film. \u{1f600} The end';

interface Tag {
  readonly label: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

describeInBrowser('the page of a token classifier', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    directory.text('tagger', '../tagging/bert');
    directory.text('bytes', '../tagging/roberta');
    return directory.start({ env: { BODY_LIMIT: '4000' } });
  }, '/models/tagger/');

  afterAll(() => directory.folder.remove());

  const tagsOf = async (model: string, body: object): Promise<readonly Tag[]> =>
    ((await post(stage.service, `/models/${model}/tag`, body)).json as { tags: Tag[] }).tags;

  /** Each row of the table as the API's span would be. */
  const rowsOf = (tags: readonly Tag[]): readonly string[] =>
    tags.map(({ label, score, start, end }) => `${label} ${score.toFixed(4)} ${start} – ${end}`);

  async function shownRows({ page }: Visit): Promise<readonly string[]> {
    const rows = await page.locator('tbody tr').all();
    return Promise.all(
      rows.map(async (row) => {
        const [label, score, places] = (await row.locator('td').allTextContents()).slice(2);
        return `${label} ${score} ${places}`;
      }),
    );
  }

  /** Without the labels. */
  const markedText = ({ page }: Visit): Promise<string> =>
    page
      .locator('.marked')
      .evaluate((element) =>
        [...element.childNodes].map((node) => (node.firstChild ?? node).textContent).join(''),
      );

  it('shows spans where they are, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Text', { exact: true }).focus();
    await page.keyboard.insertText(TEXT);
    await page.keyboard.press('Tab');
    await page.keyboard.type('none');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Control+Enter');
    await page.locator('.marked').waitFor();
    const tags = await tagsOf('tagger', {
      text: TEXT,
      aggregation_strategy: 'none',
      ignore_labels: [],
    });
    expect(tags.length).toBeGreaterThan(5);
    expect(await shownRows(visit)).toEqual(rowsOf(tags));
    expect(await markedText(visit)).toBe(TEXT);
    const marks = await page.locator('mark').evaluateAll((all) => all.map((one) => one.innerHTML));
    expect(marks).toEqual(
      tags.map(
        ({ label, start, end }) => `${TEXT.slice(start, end)}<span class="label">${label}</span>`,
      ),
    );
    const legend = await page.getByRole('list', { name: 'Labels' }).locator('li').allTextContents();
    expect(legend.map((line) => line.replace(/:.*/, ''))).toEqual([
      ...new Set(tags.map(({ label }) => label)),
    ]);
    expect(await page.getByRole('status').last().textContent()).toBe(`${tags.length} spans`);
    expect(await visit.walk()).toEqual(
      expect.arrayContaining(['text', 'strategy', 'Tag', 'Text with entities', 'Spans']),
    );
    expect(problems).toEqual([]);
  });

  it('keeps a character whole that became several tokens', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.goto(`${stage.service.origin}/models/bytes/`);
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await page.getByLabel('Aggregation strategy').selectOption('none');
    await page.getByLabel('Include tokens outside of entities').check();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.locator('.marked').waitFor();
    const tags = await tagsOf('bytes', {
      text: TEXT,
      aggregation_strategy: 'none',
      ignore_labels: [],
    });
    expect(tags.filter(({ start, end }) => start === 0 && end === 2).length).toBeGreaterThan(1);
    expect(await shownRows(visit)).toEqual(rowsOf(tags));
    expect(await markedText(visit)).toBe(TEXT);
    expect(await page.locator('mark').first().textContent()).toMatch(/^\u{1f600}\S/u);
  });

  it('reads a long text whole, or says that it was cut', async () => {
    const { page } = await stage.open();
    await page.getByLabel('Text', { exact: true }).fill(`${TEXT}. `.repeat(20));
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.locator('.answer').waitFor();
    expect(await page.getByText('The text was truncated.').count()).toBe(0);
    await page.getByLabel('Read long texts in overlapping windows').uncheck();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.locator('.note').getByText('The text was truncated.').waitFor();
    expect(await page.locator('.note.warn').textContent()).toContain('at most 40 tokens');
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('Text', { exact: true }).fill('far too long '.repeat(400));
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByText('The request is too large.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toContain('4000 bytes');
    expect(await visit.findViolations()).toEqual([]);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Marie Curie' }).click();
    await page.locator('.timing').waitFor();
  });
});
