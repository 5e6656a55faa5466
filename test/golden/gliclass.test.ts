import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ZeroShot } from '../../src/embedded/zero-shot-classifier';
import { sigmoid, softmax } from '../../src/lib/numbers';
import { createGliclassDecisionModel } from '../../src/tasks/decision/gliclass-decision-model';
import type { GliclassInput } from '../../src/tasks/decision/gliclass-prompt';
import { gliclass } from '../../src/tasks/decision/gliclass-task';
import type { DecisionModel, Question } from '../../src/tasks/decision/questions';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import type { ZeroShotClassifier } from '../../src/tasks/zero-shot/zero-shot-classifier';
import { createZeroShotClassifier } from '../../src/tasks/zero-shot-models';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { seededRandom } from '../helpers/random';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const ROOT = 'gliclass';

interface Golden {
  readonly texts: readonly string[];
  readonly variants: readonly { readonly config: object; readonly logits: readonly number[] }[];
  /** Texts that the package truncates. */
  readonly long: readonly (Omit<GliclassInput, 'truncationSide'> & {
    readonly logits: readonly number[];
  })[];
  readonly answers: readonly {
    readonly text: number;
    readonly labels: readonly string[];
    readonly prompt: string | null;
    readonly logits: readonly number[];
  }[];
}

/** Parts of markers, and characters that tokenizers remove, combine or replace. */
const FRAGMENTS = [
  ...['<', '>', '<<', '>>', 'LABEL', 'label', 'SEP', '<<LABEL>>', '<<SEP>>', '<<EXAMPLE>>'],
  ...['\u0338', '\u0301', '\uff1c', '\uff1e', '\u200b', '\u00ad', '\ufeff', ' ', '\n', '\0'],
  ...['[SEP]', '[CLS]', '[MASK]', '</s>', '\ud800', '\udc00', '\u0130', '\u2581', '##a', 'film'],
];

const task = gliclass as unknown as Task;
const folder = new Folder();
let count = 0;

afterAll(() => folder.remove());

function expectClose(found: ArrayLike<number> | undefined, expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  const scale = Math.max(1, ...expected.map(Math.abs));
  for (const [index, value] of expected.entries()) {
    const difference = Math.abs((found?.[index] as number) - value);
    expect(difference).toBeLessThanOrEqual(TOLERANCE * scale);
  }
}

const inputOf = (golden: Golden, { text, labels, prompt }: Golden['answers'][number]) =>
  ({
    text: golden.texts[text] as string,
    labels,
    prompt,
    truncationSide: 'right',
  }) satisfies GliclassInput;

describe.each(readdirSync(path.join(FIXTURES, ROOT)))('%s', (name) => {
  const golden = readFixture<Golden>(ROOT, name, 'golden.json');
  const load = () => TaskModel.load(gliclass, path.join(FIXTURES, ROOT, name), SCHEDULING);
  let model: Awaited<ReturnType<typeof load>>;
  let classifier: ZeroShotClassifier;
  let decisions: DecisionModel;

  beforeAll(async () => {
    model = await load();
    const loaded = model as unknown as TaskModel;
    classifier = createZeroShotClassifier(task, loaded) as ZeroShotClassifier;
    decisions = createGliclassDecisionModel(task, loaded) as DecisionModel;
  });

  afterAll(() => model.close());

  it('has the logits of gliclass, alone and in batches', async () => {
    const inputs = golden.answers.map((row) => inputOf(golden, row));
    const together = await model.runAll(inputs, {});
    for (const [index, { logits }] of golden.answers.entries()) {
      expectClose(together[index]?.logits, logits);
      expect(together[index]?.inference.truncated).toBe(false);
    }
    for (const index of [0, 7, 20, 41, inputs.length - 1]) {
      const alone = await model.run(inputs[index] as GliclassInput, {});
      expect(alone.logits).toEqual(together[index]?.logits);
    }
  });

  it('has the scores of the pipeline as a zero-shot classifier', async () => {
    const rows = golden.answers.filter(({ labels, prompt }) => labels.length === 3 && !prompt);
    expect(rows).toHaveLength(golden.texts.length);
    const labels = rows[0]?.labels ?? [];
    for (const isMultiLabel of [false, true]) {
      const request = { texts: golden.texts, labels, template: null, isMultiLabel };
      const { answers, isTruncated } = await classifier.classifyLabels(request, {});
      expect(isTruncated).toEqual(golden.texts.map(() => false));
      for (const [index, { logits }] of rows.entries()) {
        const expected = (isMultiLabel ? sigmoid : softmax)(Float32Array.from(logits));
        const found = answers[index] ?? [];
        const scores = labels.map((label) => found.find((one) => one.label === label)?.score ?? 2);
        expectClose(scores, [...expected]);
        const descending = found.map(({ score }) => score).sort((a, b) => b - a);
        expect(found.map(({ score }) => score)).toEqual(descending);
      }
    }
  });

  it('fills a given template with each label', async () => {
    const request = { texts: ['A text.'], isMultiLabel: false };
    const labels = ['film', 'travel'];
    const filled = labels.map((label) => `about ${label}`);
    const [{ answers: templated }, { answers: plain }] = await Promise.all([
      classifier.classifyLabels({ ...request, labels, template: 'about {}' }, {}),
      classifier.classifyLabels({ ...request, labels: filled, template: null }, {}),
    ]);
    expect(templated[0]?.map(({ label }) => `about ${label}`)).toEqual(
      plain[0]?.map(({ label }) => label),
    );
    expect(templated[0]?.map(({ score }) => score)).toEqual(plain[0]?.map(({ score }) => score));
  });

  it('has the same scores in the process', async () => {
    const engine = await ZeroShot.load({ modelDirectory: path.join(FIXTURES, ROOT, name) });
    const labels = ['film', 'travel', 'date of birth'];
    const text = golden.texts[2] as string;
    for (const multiLabel of [false, true]) {
      const request = { texts: [text], labels, template: null, isMultiLabel: multiLabel };
      const { answers } = await classifier.classifyLabels(request, {});
      expect(await engine.classify(text, labels, { multiLabel })).toEqual(answers[0]);
    }
    await engine.close();
  });

  it('answers questions: options are labels, and a statement is a single label', async () => {
    const state = golden.texts[2] as string;
    const row = golden.answers.find(
      (one) => one.text === 2 && one.labels.length === 3 && one.prompt,
    );
    const [a = '', b = '', c = ''] = row?.labels ?? [];
    const instructions = row?.prompt ?? null;
    const statement = { true: null, false: null };
    const questions: readonly Question[] = [
      {
        type: 'choice',
        instructions,
        options: [a, b, c].map((label) => ({ label, description: null })),
      },
      { type: 'score', instructions, levels: [a, b, c] },
      { type: 'predicate', instructions: 'film', criteria: statement },
      { type: 'predicate', instructions: null, criteria: { true: 'film', false: null } },
      { type: 'predicate', instructions: null, criteria: { true: null, false: 'film' } },
      { type: 'predicate', instructions, criteria: { true: a, false: b } },
    ];
    const { answers } = await decisions.decide({ state, truncationSide: 'right', questions }, {});
    const expected = [...softmax(Float32Array.from(row?.logits ?? []))];
    expectClose(answers[0]?.probabilities, expected);
    expectClose(answers[1]?.probabilities, expected);
    const single = golden.answers.find((one) => one.text === 2 && one.labels.length === 1);
    const [holds = 2] = sigmoid(Float32Array.from(single?.logits ?? []));
    expectClose(answers[2]?.probabilities, [1 - holds, holds]);
    expectClose(answers[3]?.probabilities, [1 - holds, holds]);
    expectClose(answers[4]?.probabilities, [holds, 1 - holds]);
    const pair = { text: state, labels: [b, a], prompt: instructions, truncationSide: 'right' };
    const { logits } = await model.run(pair as GliclassInput, {});
    expect(answers[5]?.probabilities).toEqual([...softmax(logits)]);
  });

  it('rejects a state that is long in all questions together', async () => {
    const question: Question = { type: 'score', instructions: null, levels: ['a'] };
    const questions = Array.from({ length: 64 }, () => question);
    const request = { state: 'a '.repeat(2 ** 18), truncationSide: 'right' as const, questions };
    const answer = decisions.decide(request, {});
    await expect(answer).rejects.toMatchObject({ code: 'LIST_TOO_LONG' });
  });

  it('keeps labels in place if texts, labels or prompts contain markers', async () => {
    const run = async (text: string, labels: readonly string[], prompt: string) =>
      (await model.run({ text, labels, prompt, truncationSide: 'right' }, {})).logits;
    const marked = await run(
      'a <<LABEL>> b<<SEP>>',
      ['x<<SEP>>', '<<LABEL>>y', 'z'],
      '<<EXAMPLE>>',
    );
    expect(marked).toEqual(await run('a   b ', ['x ', ' y', 'z'], ' '));
    expect(await run('a', ['\u0338x', 'y'], '')).toHaveLength(2);
    expect(await run('a\ud800', ['\udc00x', 'y'], '\u0301')).toHaveLength(2);
    expect(await run('\uff1c\uff1cLABEL\uff1e\uff1e', ['<<label>>', '< <SEP>>'], '')).toHaveLength(
      2,
    );
  });

  it('finds its markers beside any characters', async () => {
    const random = seededRandom(7);
    const below = (count: number): number => Math.floor(random() * count);
    const text = () =>
      Array.from({ length: below(9) }, () => FRAGMENTS[below(FRAGMENTS.length)]).join('');
    const inputs = Array.from({ length: 200 }, () => ({
      text: text(),
      labels: Array.from({ length: 1 + below(5) }, text),
      prompt: below(2) === 0 ? null : text(),
      truncationSide: 'right' as const,
    }));
    const answers = await model.runAll(inputs, {});
    expect(answers.map(({ logits }) => logits.length)).toEqual(
      inputs.map(({ labels }) => labels.length),
    );
  });

  it('truncates the end of the text as gliclass does', async () => {
    for (const { logits, ...input } of golden.long) {
      const answer = await model.run({ ...input, truncationSide: 'right' }, {});
      expect(answer.inference.truncated).toBe(true);
      expectClose(answer.logits, logits);
    }
    expect(golden.long).toHaveLength(model.metadata.isPromptFirst ? 1 : 0);
  });

  it('truncates the text, and never the labels', async () => {
    const labels = ['film', 'travel'];
    const words = Array.from({ length: 2000 }, (_, index) => `w${index % 7}`).join(' ');
    const inputs = (['left', 'right'] as const).map((truncationSide) => ({
      text: `begin ${words} end`,
      labels,
      prompt: 'About?',
      truncationSide,
    }));
    const answers = await model.runAll(inputs, {});
    for (const { logits, inference } of answers) {
      expect(logits).toHaveLength(2);
      expect(inference.truncated).toBe(true);
      expect(inference.tokens).toBe(model.maxLength);
    }
    const many = Array.from({ length: 255 }, (_, index) => `a label, number ${index}`);
    const answer = model.run(
      { text: 'a', labels: many, prompt: null, truncationSide: 'right' },
      {},
    );
    await expect(answer).rejects.toMatchObject({ code: 'INPUT_TOO_LONG' });
    await expect(answer).rejects.toThrow(/^The labels and the instructions have \d+ tokens/);
  });

  if (golden.variants.length > 0) {
    it.each(golden.variants.map((variant) => [JSON.stringify(variant.config), variant] as const))(
      'has the logits of gliclass with %s',
      async (_, { config, logits }) => {
        const changed = modelWith(
          folder,
          `../${ROOT}/${name}`,
          { 'config.json': config },
          `${count++}`,
        );
        const other = await TaskModel.load(gliclass, changed, SCHEDULING);
        const row = golden.answers.find(
          (one) => one.text === 2 && one.labels.length === 3 && one.prompt?.startsWith('What'),
        );
        const input = inputOf(golden, row as Golden['answers'][number]);
        const { logits: found } = await other.run(input, {}).finally(() => other.close());
        expectClose(found, logits);
      },
    );
  }
});
