import { readdirSync } from 'node:fs';
import path from 'node:path';
import { EngineError } from '../../src/native/engine';
import { matchTasks, reranking } from '../../src/tasks/registry';
import { toPair } from '../../src/tasks/reranking/cross-encoder';
import { rankByScore } from '../../src/tasks/reranking/ranking';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { type RankedAnswer, RERANKING_CASES, type RerankingCase } from '../helpers/reranking';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to sentence-transformers that a score may have. */
const TOLERANCE = 1e-5;

const folder = new Folder();

afterAll(() => folder.remove());

/** A name, the path of the model, and what is expected of it. */
type Expected = readonly [name: string, place: () => string, answers: readonly RankedAnswer[]];

const SAVED = RERANKING_CASES.map(({ model, config, files, answers }, index): Expected => {
  const place = () => modelWith(folder, model, { 'config.json': config, ...files });
  return [`${index} ${model}`, place, answers];
});

/** Whose architecture has no code here: scripts/export.py made programs of them. */
const EXPORTED = readdirSync(path.join(FIXTURES, 'reranking')).map((name): Expected => {
  const { answers } = readFixture<Pick<RerankingCase, 'answers'>>('reranking', name, 'golden.json');
  return [name, () => path.join(FIXTURES, 'reranking', name), answers];
});

describe.each([...SAVED, ...EXPORTED])('%s', (_, place, answers) => {
  let model: Awaited<ReturnType<typeof load>>;
  const load = () => TaskModel.load(reranking, place(), SCHEDULING);

  beforeAll(async () => {
    model = await load();
  });

  afterAll(() => model.close());

  it.each(answers.map((one) => [one.query, one] as const))(
    'scores and ranks as CrossEncoder does: %s',
    async (_, { query, documents, predicted, ranked }) => {
      const pairs = documents.map((document) => toPair(query, document));
      const together = await model.runAll(pairs, {});
      const alone = await Promise.all(pairs.map((pair) => model.run(pair, {})));
      for (const [index, expected] of predicted.flat().entries()) {
        const tolerance = TOLERANCE * Math.max(1, Math.abs(expected));
        for (const way of [together, alone]) {
          const actual = way.flatMap(({ scores }) => [...scores])[index] as number;
          expect(Math.abs(actual - expected)).toBeLessThanOrEqual(tolerance);
        }
      }
      if (ranked === null) return;
      const scores = together.map((one) => one.scores[0] as number);
      expect(rankByScore(scores).map(({ index }) => index)).toEqual(ranked);
      expect(rankByScore(scores, 1).map(({ index }) => index)).toEqual(ranked.slice(0, 1));
    },
  );
});

describe('what sentence-transformers has saved', () => {
  const mark = (name: string, config: object, files: Readonly<Record<string, unknown>> = {}) =>
    modelWith(folder, name, { 'config.json': config, ...files });

  it('marks a model of one label', () => {
    const saved = { sentence_transformers: { version: '5.1.0' } };
    const isMarked = (name: string, config: object) =>
      reranking.isDeclaredFor?.(mark(name, config));
    expect(isMarked('roberta-one-label', saved)).toBe(true);
    expect(isMarked('roberta-one-label', { sbert_ce_default_activation_function: 'x.Y' })).toBe(
      true,
    );
    expect(isMarked('roberta-one-label', {})).toBe(false);
    expect(isMarked('roberta-three-labels-float16', saved)).toBe(false);
  });

  it('is what a folder is taken for, whatever version has written it', () => {
    for (const { model, config, files, answers } of RERANKING_CASES) {
      const [first] = matchTasks(mark(model, config, files));
      const hasOneLabel = answers.every(({ ranked }) => ranked !== null);
      expect(first?.[0].name).toBe(hasOneLabel ? 'reranking' : 'text-classification');
    }
    for (const [, place] of EXPORTED) expect(matchTasks(place())[0]?.[0].name).toBe('reranking');
  });

  it('names an activation that is not known', () => {
    const directory = mark('roberta-one-label', {
      sentence_transformers: { activation_fn: 'torch.nn.modules.activation.ReLU6' },
    });
    expect(() => reranking.read(directory)).toThrow(
      'activation_fn: expected one of Identity, Sigmoid, Softmax, Tanh, found "torch.nn.modules.activation.ReLU6"',
    );
  });

  it('leaves an activation of its own code, and says so', async () => {
    const directory = mark('roberta-one-label', {
      sbert_ce_default_activation_function: 'my_code.Activation',
    });
    const model = await TaskModel.load(reranking, directory, SCHEDULING);
    expect(model.warnings).toEqual([
      'activation_fn names code of its own, which is not run: scores are those of Sigmoid',
    ]);
    await model.close();
  });

  it.each([
    [
      [{ type: 'a.Transformer' }, { type: 'a.LogitScore' }],
      {},
      'modules.json: expected a transformer alone, as sequence classifiers are, found "a.LogitScore" behind it',
    ],
    [
      [{ type: 'a.Transformer' }],
      { default_prompt_name: 'query' },
      'config_sentence_transformers.json: default_prompt_name: "query": prompts of cross-encoders are not supported',
    ],
  ])('refuses %j with %j', (modules, settings, message) => {
    const directory = mark(
      'roberta-one-label',
      {},
      {
        'modules.json': modules,
        'config_sentence_transformers.json': { model_type: 'CrossEncoder', ...settings },
      },
    );
    expect(() => reranking.read(directory)).toThrow(message);
  });
});

it('says which pair is too long where it is not to be cut', async () => {
  const directory = modelWith(folder, 'roberta-one-label', {});
  const model = await TaskModel.load(reranking, directory, SCHEDULING);
  const pairs = [toPair('film', 'good'), toPair('film', 'good '.repeat(100))];
  const uncut = pairs.map((pair) => ({ ...pair, truncation: 'do_not_truncate' as const }));
  await expect(model.runAll(uncut, {})).rejects.toMatchObject({ code: 'INPUT_TOO_LONG', index: 1 });
  await expect(model.runAll(uncut, {})).rejects.toBeInstanceOf(EngineError);
  await model.close();
});
