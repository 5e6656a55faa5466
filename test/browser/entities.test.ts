import { post } from '../helpers/http';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks, type Visit } from './browser';

const TEXT = 'Ada \u{1f600} lived in London and wrote to Charles Babbage.';

interface Tag {
  readonly label: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

describeInBrowser('the page of a model that finds entities', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    directory.text('finder', '../gliner/deberta-marker-v0');
    return directory.start({ env: { BODY_LIMIT: '4000' } });
  }, '/models/finder/');

  afterAll(() => directory.folder.remove());

  const tagsOf = async (body: object): Promise<readonly Tag[]> => {
    const { json } = await post(stage.service, '/models/finder/tag', { text: TEXT, ...body });
    return (json as { tags: Tag[] }).tags;
  };

  async function shownRows({ page }: Visit): Promise<readonly string[]> {
    const rows = await page.locator('tbody tr').all();
    return Promise.all(
      rows.map(async (row) => (await row.locator('td').allTextContents()).slice(1).join(' ')),
    );
  }

  const rowsOf = (tags: readonly Tag[]): readonly string[] =>
    tags.map(
      ({ label, score, start, end }) =>
        `${TEXT.slice(start, end)} ${label} ${score.toFixed(4)} ${start} – ${end}`,
    );

  const chipsOf = ({ page }: Visit): Promise<readonly string[]> =>
    page.locator('.chip > span').allTextContents();

  it('finds entities of labels that were typed, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Text', { exact: true }).focus();
    await page.keyboard.insertText(TEXT);
    await page.keyboard.press('Tab');
    await page.keyboard.type('person,city, person,');
    expect(await chipsOf(visit)).toEqual(['person', 'city']);
    await page.keyboard.type('animal');
    await page.keyboard.press('Enter');
    expect(await chipsOf(visit)).toEqual(['person', 'city', 'animal']);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('river');
    await page.keyboard.press('Backspace');
    expect(await chipsOf(visit)).toEqual(['person', 'city']);
    await page.keyboard.type('r');
    await page.keyboard.press('Control+Enter');
    await page.locator('.marked').waitFor();
    expect(await chipsOf(visit)).toEqual(['person', 'city', 'river']);
    const labels = ['person', 'city', 'river'];
    const tags = await tagsOf({ labels });
    expect(tags.length).toBeGreaterThan(1);
    expect(await shownRows(visit)).toEqual(rowsOf(tags));
    const legend = await page.getByRole('list', { name: 'Labels', exact: true });
    const counts = labels.map((label) => tags.filter((tag) => tag.label === label).length);
    expect(await legend.locator('li').allTextContents()).toEqual(
      labels.map((label, i) => `${label}: ${counts[i]} span${counts[i] === 1 ? '' : 's'}`),
    );
    const marks = await page.locator('mark').evaluateAll((all) => all.map((one) => one.innerHTML));
    expect(marks).toEqual(
      tags.map(
        ({ label, start, end }) => `${TEXT.slice(start, end)}<span class="label">${label}</span>`,
      ),
    );
    expect(await visit.walk()).toEqual(
      expect.arrayContaining(['text', 'Remove label city', 'threshold', 'overlaps', 'Spans']),
    );
    expect(problems).toEqual([]);
  });

  it('sends the threshold and whether entities may overlap', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await page.getByLabel('Labels to find').first().fill('person, city,');
    await page.getByLabel('Threshold').fill('0.3');
    await page.getByText('scores above 0.30').waitFor();
    await page.getByLabel('Overlapping entities').selectOption('nested');
    await page.getByLabel('Multi-label').check();
    await page.getByRole('button', { name: 'Find' }).click();
    await page.locator('.marked').waitFor();
    const labels = ['person', 'city'];
    const tags = await tagsOf({ labels, threshold: 0.3, flat: false, multi_label: true });
    expect(tags.length).toBeGreaterThan((await tagsOf({ labels, threshold: 0.3 })).length);
    expect(await shownRows(visit)).toEqual(rowsOf(tags));
  });

  it('removes labels by buttons with names, and keeps the focus', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await page.locator('#label').fill('person, city, river,');
    await page.getByRole('button', { name: 'Remove label city' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('city removed').waitFor({ state: 'attached' });
    expect([await chipsOf(visit), await focused()]).toEqual([
      ['person', 'river'],
      'Remove label river',
    ]);
    await page.keyboard.press('Space');
    expect([await chipsOf(visit), await focused()]).toEqual([['person'], 'Remove label person']);
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('label');
    await page.locator('#label').evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'drug\ndose\r\nside effect');
      const options = { clipboardData, bubbles: true, cancelable: true };
      field.dispatchEvent(new ClipboardEvent('paste', options));
    });
    expect(await chipsOf(visit)).toEqual(['drug', 'dose', 'side effect']);
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('Text', { exact: true }).fill(TEXT);
    await visit.page.locator('#label').fill('long '.repeat(300));
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('The server rejected this input.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(/^labels.*1000 characters/);
    expect([await visit.findViolations(), await visit.overflow()]).toEqual([[], 0]);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Invoice' }).click();
    await page.locator('.timing').waitFor();
  });
});
