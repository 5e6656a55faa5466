import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createLayaDecisionModel } from '../../src/tasks/decision/laya-decision-model';
import { layaRecipe } from '../../src/tasks/decision/laya-sequence';
import { laya } from '../../src/tasks/decision/laya-task';
import type { DecisionModel, Question } from '../../src/tasks/decision/questions';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const ROOT = 'laya';

type GoldenQuestion =
  | {
      readonly type: 'noul';
      readonly instructions: string;
      readonly criteria?: { readonly true?: string; readonly false?: string };
    }
  | {
      readonly type: 'choice';
      readonly instructions: string;
      readonly criteria: Readonly<Record<string, string | null>>;
    }
  | { readonly type: 'score'; readonly instructions: string; readonly criteria: readonly string[] };

interface Golden {
  readonly states: readonly string[];
  /** Whether the start of the state is truncated. */
  readonly left: readonly boolean[];
  readonly questions: Readonly<Record<string, GoldenQuestion>>;
  readonly answers: readonly {
    readonly state: number;
    readonly question: string;
    readonly ids: readonly number[];
    readonly markers: readonly number[];
    readonly is_truncated: boolean;
    readonly act_probability: number;
    readonly probabilities: readonly number[];
  }[];
  readonly long_states: readonly string[];
  /** Of `predict_long`, rounded to four decimals. */
  readonly long_answers: readonly {
    readonly state: number;
    readonly question: string;
    /** null: the state was read at once. */
    readonly window: number | null;
    readonly windows: number;
    readonly act_probability: number;
    readonly probabilities: readonly number[];
  }[];
}

function toQuestion(question: GoldenQuestion): Question {
  const { type, instructions } = question;
  switch (type) {
    case 'noul': {
      const { true: yes = null, false: no = null } = question.criteria ?? {};
      return { type: 'predicate', instructions, criteria: { true: yes, false: no } };
    }
    case 'choice': {
      const options = Object.entries(question.criteria).map(([label, description]) => ({
        label,
        description,
      }));
      return { type, instructions, options };
    }
    case 'score':
      return { type, instructions, levels: question.criteria };
  }
}

describe.each(readdirSync(path.join(FIXTURES, ROOT)))('%s', (name) => {
  const golden = readFixture<Golden>(ROOT, name, 'golden.json');
  const names = Object.keys(golden.questions);
  const questions = Object.values(golden.questions).map(toQuestion);
  const load = () => TaskModel.load(laya, path.join(FIXTURES, ROOT, name), SCHEDULING);
  let model: Awaited<ReturnType<typeof load>>;
  let decisions: DecisionModel;

  beforeAll(async () => {
    model = await load();
    const task = laya as unknown as Task;
    decisions = createLayaDecisionModel(task, model as unknown as TaskModel) as DecisionModel;
  });

  afterAll(() => model.close());

  const requestOf = (index: number) => ({
    state: golden.states[index] as string,
    truncationSide: golden.left[index] ? ('left' as const) : ('right' as const),
  });
  const expectedOf = (index: number) => golden.answers.filter(({ state }) => state === index);

  it('composes the sequences of laya', async () => {
    for (const [index] of golden.states.entries()) {
      for (const [place, question] of questions.entries()) {
        const recipe = layaRecipe({ ...requestOf(index), question }, model.metadata);
        const tokenized = await model.tokenize(recipe.texts, false, {});
        const tokens = tokenized.map(({ places }) => places as NonNullable<typeof places>);
        const input = recipe.compose(tokens, model.maxLength);
        const expected = expectedOf(index)[place];
        expect(expected?.question).toBe(names[place]);
        expect([...input.ids]).toEqual(expected?.ids);
        expect([...(input.markers ?? [])]).toEqual(expected?.markers);
        expect(input.truncated).toBe(expected?.is_truncated);
      }
    }
  });

  it('has the probabilities of laya, alone and in batches', async () => {
    for (const [index] of golden.states.entries()) {
      const request = requestOf(index);
      const together = await decisions.decide({ ...request, questions }, {});
      for (const [place, expected] of expectedOf(index).entries()) {
        const { probabilities, is_truncated, act_probability } = expected;
        const question = questions[place] as Question;
        const alone = await decisions.decide({ ...request, questions: [question] }, {});
        const answer = together.answers[place];
        expect(alone.answers[0]).toEqual(answer);
        expect(answer?.isTruncated).toBe(is_truncated);
        const act = answer?.actProbability ?? 2;
        expect(Math.abs(act - act_probability)).toBeLessThanOrEqual(TOLERANCE);
        expect(answer?.probabilities).toHaveLength(probabilities.length);
        for (const [option, probability] of probabilities.entries()) {
          const found = answer?.probabilities[option] ?? 2;
          expect(Math.abs(found - probability)).toBeLessThanOrEqual(TOLERANCE);
        }
      }
    }
  });

  it('reads long states in windows as laya does', async () => {
    const { long_states: states, long_answers: answers } = golden;
    expect(answers.some(({ window }) => window !== null && window > 0)).toBe(true);
    expect(answers.some(({ window }) => window === null)).toBe(true);
    for (const { state, question: name, ...expected } of answers) {
      const question = questions[names.indexOf(name)] as Question;
      const request = { state: states[state] as string, truncationSide: 'right' as const };
      const long = { ...request, questions: [question], inWindows: true };
      const { answers: found, inferences } = await decisions.decide(long, {});
      const [answer] = found;
      expect([answer?.window ?? null, inferences.length]).toEqual([
        expected.window,
        expected.windows,
      ]);
      const rounded = TOLERANCE + 0.5e-4;
      const act = answer?.actProbability ?? 2;
      expect(Math.abs(act - expected.act_probability)).toBeLessThanOrEqual(rounded);
      for (const [option, probability] of expected.probabilities.entries()) {
        const difference = Math.abs((answer?.probabilities[option] ?? 2) - probability);
        expect(difference).toBeLessThanOrEqual(rounded);
      }
    }
  });

  it('reads the same windows for all questions, sized by the one with the least room', async () => {
    const state = golden.long_states[1] as string;
    const request = { state, truncationSide: 'right' as const, inWindows: true };
    const few = [questions[0] as Question];
    const many = [questions[0] as Question, questions[names.indexOf('long')] as Question];
    const one = await decisions.decide({ ...request, questions: few }, {});
    const two = await decisions.decide({ ...request, questions: many }, {});
    expect(two.inferences.length).toBe(2 * Math.floor(two.inferences.length / 2));
    expect(two.inferences.length / 2).toBeGreaterThanOrEqual(one.inferences.length);
    expect(two.answers.every(({ window }) => window !== undefined)).toBe(true);
    const long = { ...request, state: state.repeat(2000), questions: many };
    await expect(decisions.decide(long, {})).rejects.toMatchObject({ code: 'LIST_TOO_LONG' });
  });

  it('rejects options that do not fit, and answers with a single option', async () => {
    const choice = (count: number): Question => ({
      type: 'choice',
      instructions: 'Which?',
      options: Array.from({ length: count }, (_, i) => ({ label: `${i}`, description: null })),
    });
    const request = { state: '', truncationSide: 'right' as const };
    const answer = decisions.decide({ ...request, questions: [choice(1), choice(255)] }, {});
    await expect(answer).rejects.toMatchObject({ code: 'INPUT_TOO_LONG', index: 1 });
    await expect(answer).rejects.toThrow(/^Only \d+ of the 255 options fit into the \d+ tokens/);
    const single = await decisions.decide({ ...request, questions: [choice(1)] }, {});
    expect(single.answers[0]?.probabilities).toEqual([1]);
  });

  it('takes empty texts as options, descriptions and instructions', async () => {
    const empty: readonly Question[] = [
      { type: 'choice', instructions: null, options: [{ label: '', description: '' }] },
      { type: 'score', instructions: '', levels: ['', null] },
      { type: 'predicate', instructions: null, criteria: { true: '', false: null } },
    ];
    const request = { state: ' ', truncationSide: 'left' as const, questions: empty };
    const { answers } = await decisions.decide(request, {});
    for (const { probabilities } of answers) {
      expect(probabilities.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 6);
    }
  });
});
