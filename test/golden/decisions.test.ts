import { EngineError } from '../../src/native/engine';
import type { DecisionModel, Question } from '../../src/tasks/decision/questions';
import { createDecisionModel } from '../../src/tasks/decision-models';
import { zeroShot } from '../../src/tasks/registry';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { SCHEDULING } from '../helpers/scheduling';

/** Largest difference to transformers that a probability may have. */
const TOLERANCE = 1e-5;

interface Case {
  readonly model: string;
  readonly config: object;
  readonly requests: readonly {
    readonly state: string;
    readonly side: 'left' | 'right';
    readonly answers: readonly {
      readonly probabilities: readonly number[];
      readonly truncated: boolean;
    }[];
  }[];
}

const { cases, questions } = readFixture<{
  readonly cases: readonly Case[];
  readonly questions: readonly Question[];
}>('decisions.json');
const folder = new Folder();

afterAll(() => folder.remove());

describe.each(cases.map((one, index) => [`${index} ${one.model}`, one] as const))(
  '%s',
  (_, { model: fixture, config, requests }) => {
    let model: TaskModel;
    let decisions: DecisionModel;

    beforeAll(async () => {
      const place = modelWith(folder, fixture, { 'config.json': config });
      model = (await TaskModel.load(zeroShot, place, SCHEDULING)) as unknown as TaskModel;
      decisions = createDecisionModel(zeroShot as unknown as Task, model) as DecisionModel;
    });

    afterAll(() => model.close());

    it('has the probabilities of transformers, all questions in one request', async () => {
      const decided = await Promise.all(
        requests.map(({ state, side }) =>
          decisions.decide({ state, truncationSide: side, questions }, {}),
        ),
      );
      expect(decided.length).toBe(8);
      for (const [index, { answers }] of decided.entries()) {
        expectNear(answers, requests[index]?.answers as Case['requests'][number]['answers']);
      }
      expect(requests.flatMap(({ answers }) => answers).some(({ truncated }) => truncated)).toBe(
        true,
      );
    });

    it('has the same probabilities for each question alone', async () => {
      const { state, side, answers } = requests[2] as Case['requests'][number];
      for (const [index, question] of questions.entries()) {
        const request = { state, truncationSide: side, questions: [question] };
        const decided = await decisions.decide(request, {});
        expectNear(decided.answers, answers.slice(index, index + 1));
      }
    });

    it('reports the question whose option leaves no tokens for the state', async () => {
      const long = { type: 'choice', instructions: 'word '.repeat(200), options: [] } as const;
      const option = { label: 'a', description: null };
      const request = {
        state: 'A text.',
        truncationSide: 'right',
        questions: [questions[0] as Question, { ...long, options: [option] }],
      } as const;
      const error = await decisions.decide(request, {}).catch((raised: unknown) => raised);
      expect(error).toBeInstanceOf(EngineError);
      expect(error).toMatchObject({ code: 'INPUT_TOO_LONG', index: 1 });
    });
  },
);

function expectNear(
  answers: readonly { readonly probabilities: readonly number[]; readonly isTruncated: boolean }[],
  golden: Case['requests'][number]['answers'],
): void {
  expect(answers.length).toBe(golden.length);
  for (const [index, { probabilities, isTruncated }] of answers.entries()) {
    const expected = golden[index] as (typeof golden)[number];
    expect(isTruncated).toBe(expected.truncated);
    expect(probabilities.length).toBe(expected.probabilities.length);
    for (const [option, probability] of probabilities.entries()) {
      const difference = Math.abs(probability - (expected.probabilities[option] as number));
      expect(difference).toBeLessThanOrEqual(TOLERANCE);
    }
  }
}
