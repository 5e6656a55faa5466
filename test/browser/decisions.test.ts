import { postRaw } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { ModelsDirectory } from '../helpers/models-directory';
import { describeInBrowser, setStage, testLooks, type Visit } from './browser';

const STATE = 'The parcel is late. \u{1f600}';
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;

interface Answer {
  readonly type: string;
  readonly probability: number;
  readonly choice: string;
  readonly score: number;
  readonly confidence: number;
  /** Of a choice with labels. */
  readonly probabilities: readonly (
    | number
    | { readonly label: string; readonly probability: number }
  )[];
}

describeInBrowser('the page of decisions', () => {
  const directory = new ModelsDirectory();
  const stage = setStage(() => {
    modelWith(directory.folder, '../laya/english', {}, 'laya');
    modelWith(directory.folder, '../gliclass/modernbert-cross-attention', {}, 'labels');
    const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
    const files = { 'config.json': { id2label } };
    modelWith(directory.folder, 'roberta-three-labels-float16', files, 'nli');
    const fewer = { ...files, 'model.json': { abilities: ['zero-shot'] } };
    modelWith(directory.folder, 'roberta-three-labels-float16', fewer, 'fewer');
    return directory.start();
  }, '/models/laya/');

  afterAll(() => directory.folder.remove());

  /** Answers of the API. @param json of the state, with its numbers as they are */
  async function answersOf(
    questions: readonly object[],
    json = JSON.stringify(STATE),
  ): Promise<readonly Answer[]> {
    const body = `{"state":${json},"questions":${JSON.stringify(questions)}}`;
    const { json: response } = await postRaw(stage.service, '/models/laya/decide', body);
    return (response as { answers: readonly Answer[] }).answers;
  }

  async function decide({ page }: Visit): Promise<void> {
    const isDone = page.waitForResponse((response) => response.url().endsWith('/decide'));
    await page.getByRole('button', { name: 'Decide' }).click();
    await isDone;
    await page.locator('.timing').waitFor();
  }

  const barsOf = ({ page }: Visit, number: number): Promise<readonly string[]> =>
    page
      .getByRole('list', { name: `Probabilities of question ${number}`, exact: true })
      .locator('li')
      .allTextContents();

  it('answers questions of all types', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    await page.getByLabel('State', { exact: true }).fill(STATE);
    expect(await page.getByRole('button', { name: 'Decide' }).isDisabled()).toBe(true);
    await page.getByText('Enter a statement or a criterion.').waitFor();
    await page.getByLabel('Statement').fill('It is late.');
    await page.getByRole('button', { name: 'Add a question' }).click();
    const second = page.getByRole('group', { name: 'Question 2' });
    await second.getByLabel('Type').selectOption('choice');
    await second.getByLabel('Name').fill('topic');
    await second.getByLabel('Label of option 1').fill('b');
    await page.getByText('Enter a label for each option.').waitFor();
    await second.getByLabel('Label of option 2').fill('a');
    await second.getByLabel('Description of option 2').fill('Something else.');
    await second.getByRole('button', { name: 'Add an option' }).click();
    await page.keyboard.type('1');
    await page.getByRole('button', { name: 'Add a question' }).click();
    const third = page.getByRole('group', { name: 'Question 3' });
    await third.getByLabel('Type').selectOption('score');
    await third.getByLabel('Instructions').fill('How urgent?');
    await third.getByLabel('Description of level 1').fill('soon');
    await third.getByRole('button', { name: 'Remove level 0' }).click();
    await decide(visit);
    const [predicate, choice, score] = (await answersOf([
      { type: 'predicate', instructions: 'It is late.' },
      {
        type: 'choice',
        options: ['b', { label: 'a', description: 'Something else.' }, '1'],
      },
      { type: 'score', instructions: 'How urgent?', levels: ['soon', null] },
    ])) as [Answer, Answer, Answer];
    expect(await barsOf(visit, 1)).toEqual([
      `True${percent(predicate.probability)}`,
      `False${percent(1 - predicate.probability)}`,
    ]);
    expect(await barsOf(visit, 2)).toEqual(
      choice.probabilities.map((each) =>
        typeof each === 'number' ? '' : each.label + percent(each.probability),
      ),
    );
    expect(await barsOf(visit, 3)).toEqual(
      score.probabilities.map(
        (each, level) => (level === 0 ? '0: soon' : '1') + percent(Number(each)),
      ),
    );
    const verdicts = await page.locator('.verdict strong').allTextContents();
    expect(verdicts).toEqual([
      predicate.probability >= 0.5 ? 'True' : 'False',
      choice.choice,
      score.score.toFixed(2),
    ]);
    const meters = page.locator('meter');
    expect(await meters.allTextContents()).toEqual([
      percent(choice.confidence),
      percent(score.confidence),
    ]);
    expect(await page.locator('.decision h3').allTextContents()).toEqual([
      'Question 1',
      'Question 2: topic',
      'Question 3',
    ]);
    expect(problems).toEqual([]);
  });

  it('moves and removes questions by keyboard, and keeps the focus', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const focused = () =>
      page.evaluate(() => {
        const { activeElement } = document;
        return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent;
      });
    const statements = () =>
      page
        .getByLabel('Statement')
        .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
    await page.getByLabel('Statement').fill('first');
    for (const text of ['second', 'third']) {
      await page.getByRole('button', { name: 'Add a question' }).press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type(text);
    }
    expect(await statements()).toEqual(['first', 'second', 'third']);
    await page.getByRole('button', { name: 'Move question 2 down' }).press('Enter');
    expect(await statements()).toEqual(['first', 'third', 'second']);
    expect(await focused()).toBe('Move question 3 up');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Move question 2 up');
    await page.keyboard.press('Enter');
    expect(await statements()).toEqual(['second', 'first', 'third']);
    expect(await focused()).toBe('Move question 1 down');
    await page.getByText('Question 2 is now question 1').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Remove question 2' }).press('Enter');
    expect(await statements()).toEqual(['second', 'third']);
    expect(await focused()).toBe('Remove question 2');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Remove question 1');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Add a question');
    await page.getByLabel('State', { exact: true }).fill(STATE);
    expect(await page.getByRole('button', { name: 'Decide' }).isDisabled()).toBe(true);
  });

  it('reads JSON with its numbers as they are, or says why not', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const json = '{"a": 1.0, "b": 12345678901234567890}';
    await page.getByLabel('Format of the state').selectOption('json');
    await page.getByLabel('Statement').fill('It is late.');
    await page.getByLabel('State', { exact: true }).fill('{"a": ');
    await page.getByText('The state is not valid JSON').waitFor();
    expect(await visit.findViolations()).toEqual([]);
    await page.getByLabel('State', { exact: true }).fill('12');
    await page.getByText('must be a JSON object, array or string').waitFor();
    expect(await page.getByRole('button', { name: 'Decide' }).isDisabled()).toBe(true);
    await page.getByLabel('State', { exact: true }).fill(json);
    const request = page.waitForRequest((sent) => sent.url().endsWith('/decide'));
    await decide(visit);
    expect((await request).postData()).toContain(`"state":${json}`);
    const question = { type: 'predicate', instructions: 'It is late.' };
    const [answer] = await answersOf([question], json);
    expect((await barsOf(visit, 1))[0]).toBe(`True${percent(answer?.probability ?? Number.NaN)}`);
  });

  it('says that a state was truncated, and by which end', async () => {
    const visit = await stage.open();
    const { page } = visit;
    const long = 'Nothing at all happened on this day. '.repeat(30);
    await page.getByLabel('State', { exact: true }).fill(`${long}The parcel is late.`);
    await page.getByLabel('Statement').fill('It is late.');
    await page.getByLabel('Truncation').selectOption('left');
    const request = page.waitForRequest((sent) => sent.url().endsWith('/decide'));
    await decide(visit);
    expect((await request).postDataJSON()).toMatchObject({ truncation_side: 'left' });
    await page.locator('.note').getByText('The state was truncated.').waitFor();
    await page.getByText('The state was truncated for this question.').waitFor();
  });

  it('says what the service refuses, and in its words why', async () => {
    const visit = await stage.open();
    const { page } = visit;
    await page.getByLabel('State', { exact: true }).fill(STATE);
    await page.getByLabel('Type').selectOption('choice');
    await page.getByLabel('Label of option 1').fill('same');
    await page.getByLabel('Label of option 2').fill('same');
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('The server rejected this input.').waitFor();
    expect(await page.locator('.note .detail').textContent()).toMatch(
      /^questions\[0\]\.options\[1\]: repeats/,
    );
  });

  it('is linked from the page of an NLI model, and works there', async () => {
    const visit = await stage.open();
    const { page, problems } = visit;
    const { origin } = stage.service;
    await page.goto(`${origin}/models/nli/`);
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByRole('button', { name: 'Log record' }).click();
    await page.locator('.timing').waitFor();
    expect(page.url()).toBe(`${origin}/models/nli/decisions/`);
    expect(await page.locator('.decision').count()).toBe(2);
    await page.getByRole('link', { name: 'Model page' }).click();
    await page.getByLabel('Hypothesis').waitFor();
    expect(page.url()).toBe(`${origin}/models/nli/`);
    await page.goto(`${origin}/models/nli/decisions/`);
    await page.getByRole('link', { name: 'All models' }).click();
    await page.getByRole('link', { name: 'laya' }).waitFor();
    expect(page.url()).toBe(`${origin}/`);
    await page.goto(`${origin}/models/labels/`);
    await page.getByRole('button', { name: 'Support ticket' }).click();
    await page.locator('.timing').waitFor();
    expect(problems).toEqual([]);
  });

  it('is not offered for a model that must not decide', async () => {
    const { page } = await stage.open();
    await page.goto(`${stage.service.origin}/models/fewer/`);
    await page.locator('.badge .dot').waitFor();
    expect(await page.getByRole('link', { name: 'Decisions' }).count()).toBe(0);
    const missing = await page.request.get(`${stage.service.origin}/models/fewer/decisions/`);
    expect(missing.status()).toBe(404);
  });

  testLooks(stage, async ({ page }) => {
    await page.getByRole('button', { name: 'Support ticket' }).click();
    await page.locator('.timing').waitFor();
  });
});
