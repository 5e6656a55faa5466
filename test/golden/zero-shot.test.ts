import { zeroShot } from '../../src/tasks/registry';
import { TaskModel } from '../../src/tasks/task-model';
import { classifyZeroShot, TEMPLATE } from '../../src/tasks/zero-shot/classify';
import { Folder } from '../helpers/files';
import { readFixture, readGolden } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { SCHEDULING } from '../helpers/scheduling';

/** Largest difference to transformers that a score may have. */
const TOLERANCE = 1e-5;

interface Case {
  readonly model: string;
  readonly config: object;
  readonly answers: readonly {
    readonly sequence: string;
    readonly candidate_labels: readonly string[];
    readonly multi_label?: boolean;
    readonly hypothesis_template?: string;
    readonly labels: readonly string[];
    readonly scores: readonly number[];
  }[];
}

const { cases } = readFixture<{ readonly cases: readonly Case[] }>('zero-shot.json');
const folder = new Folder();

afterAll(() => folder.remove());

describe.each(cases.map((one, index) => [`${index} ${one.model}`, one] as const))(
  '%s',
  (_, { model: fixture, config, answers }) => {
    const load = () =>
      TaskModel.load(zeroShot, modelWith(folder, fixture, { 'config.json': config }), SCHEDULING);
    let model: Awaited<ReturnType<typeof load>>;

    beforeAll(async () => {
      model = await load();
    });

    afterAll(() => model.close());

    it('has the labels and scores of the pipeline', async () => {
      await Promise.all(
        answers.map(async ({ sequence, candidate_labels, labels, scores, ...asked }) => {
          const question = {
            texts: ['Good.', sequence],
            labels: candidate_labels,
            template: asked.hypothesis_template ?? TEMPLATE,
            isMultiLabel: asked.multi_label ?? false,
          };
          const found = (await classifyZeroShot(model, question, {})).answers[1] ?? [];
          expect(found.map(({ label }) => label)).toEqual(labels);
          for (const [index, { score }] of found.entries()) {
            expect(Math.abs(score - (scores[index] as number))).toBeLessThanOrEqual(TOLERANCE);
          }
        }),
      );
    });

    it('still classifies by its own labels', async () => {
      const [golden] = readGolden(fixture).texts;
      const { inference } = await model.run(golden?.text ?? '', {});
      for (const [index, logit] of (golden?.logits ?? []).entries()) {
        expect(Math.abs((inference.values[index] as number) - logit)).toBeLessThanOrEqual(2e-5);
      }
    });
  },
);

it('is marked by a label that begins with entail', () => {
  const isMarked = (names: readonly string[]) => {
    const config = { id2label: Object.fromEntries(names.map((name, index) => [index, name])) };
    return zeroShot.isDeclaredFor?.(
      modelWith(folder, 'roberta-three-labels-float16', { 'config.json': config }),
    );
  };
  expect(isMarked(['contradiction', 'neutral', 'Entailment'])).toBe(true);
  expect(isMarked(['not entailed', 'neutral', 'other'])).toBe(false);
});

it('takes the last label for entailment where none is, and says so', async () => {
  const directory = modelWith(folder, 'roberta-three-labels-float16', {});
  const model = await TaskModel.load(zeroShot, directory, SCHEDULING);
  expect(model.warnings).toEqual([
    'no label begins with "entail": the last one is taken for entailment, LABEL_2',
  ]);
  expect(model.metadata).toMatchObject({ entailment: 2, contradiction: 0 });
  await model.close();
});
