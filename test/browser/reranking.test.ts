import { post } from '../helpers/http';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks } from './browser';

const QUERY = 'How long is it?';
const DOCUMENTS = ['A quiet marvel. \u{1f600}', 'Two hours.', 'It is dull.', 'In Iceland.'];

interface Move {
  readonly text: string;
  /** Pixels from where it comes to where it is; positive: it was below. */
  readonly from: number;
}

describeInBrowser('the page of a reranker', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    directory.text('reranker', 'roberta-one-label', { task: 'reranking' });
    return directory.start({ env: { MAX_LIST_LENGTH: '6' } });
  }, '/models/reranker/');

  afterAll(() => directory.folder.remove());

  async function ranked(): Promise<readonly { index: number; relevance_score: number }[]> {
    const body = { query: QUERY, documents: DOCUMENTS };
    const { json } = await post(stage.service, '/models/reranker/v1/rerank', body);
    return (json as { results: { index: number; relevance_score: number }[] }).results;
  }

  it('ranks documents, by keyboard alone', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('Query').focus();
    await page.keyboard.insertText(QUERY);
    await page.keyboard.press('Tab');
    await page.keyboard.insertText(`\n${DOCUMENTS.join('\n\n')}\n`);
    expect(await page.getByText('4 documents').count()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.ranking').waitFor();
    const expected = (await ranked()).map(({ index, relevance_score }, rank) => {
      const places = index - rank;
      const way = places > 0 ? `up ${places}` : `down ${-places}`;
      const moved = places === 0 ? 'same position' : `input position ${index + 1} · ${way}`;
      return `${DOCUMENTS[index]}${relevance_score.toFixed(4)}Rank ${rank + 1} · ${moved}`;
    });
    expect(await page.locator('.ranking li').allTextContents()).toEqual(expected);
    expect(await page.getByRole('status').last().textContent()).toMatch(/^Best of 4 documents: /);
    expect(await visit.walk()).toEqual(expect.arrayContaining(['query', 'documents', 'Rank']));
    expect(problems).toEqual([]);
  });

  it.each(['no-preference', 'reduce'] as const)('moves them, motion: %s', async (reducedMotion) => {
    const { page } = await stage.open();
    await page.emulateMedia({ reducedMotion });
    await page.evaluate(() => {
      const moves: Move[] = [];
      const { animate } = Element.prototype;
      Element.prototype.animate = function (this: Element, keyframes, options) {
        const [first] = keyframes as Keyframe[];
        const from = Number.parseFloat(String(first?.transform).replace(/^translateY\(/, ''));
        moves.push({ text: this.firstElementChild?.textContent ?? '', from });
        return animate.call(this, keyframes, options);
      };
      Object.assign(window, { moves });
    });
    await page.getByLabel('Query').fill(QUERY);
    await page.getByLabel('Documents').fill(DOCUMENTS.join('\n'));
    await page.getByRole('button', { name: 'Rank', exact: true }).click();
    await page.locator('.ranking').waitFor();
    const moves = await page.evaluate(() => (window as unknown as { moves: Move[] }).moves);
    // The places of those that stay differ by the heights of those above them.
    const ways = new Map(moves.map(({ text, from }) => [text, from > 0 ? 'up' : 'down']));
    const expected = (await ranked())
      .map(({ index }, rank) => ({ text: DOCUMENTS[index] as string, places: index - rank }))
      .filter(({ places }) => places !== 0)
      .map(({ text, places }) => [text, places > 0 ? 'up' : 'down']);
    expect(expected.length).toBeGreaterThan(1);
    const shown = expected.map(([text = '']) => [text, ways.get(text)]);
    expect(shown).toEqual(
      reducedMotion === 'reduce' ? expected.map(([text]) => [text, undefined]) : expected,
    );
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('Query').fill(QUERY);
    await page.getByLabel('Documents').fill(Array(7).fill('one').join('\n'));
    await page.getByRole('button', { name: 'Rank', exact: true }).click();
    await page.getByText('The request is too large.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(/^documents: .*6/);
    expect(await visit.findViolations()).toEqual([]);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Rank an example' }).click();
    await page.locator('.timing').waitFor();
  });
});
