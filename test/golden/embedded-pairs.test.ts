import { EngineError, InputError, Reranker, ZeroShot } from '../../src/index';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { modelWith } from '../helpers/model-folder';
import { caseOfOneLabel } from '../helpers/reranking';

const folder = new Folder();

afterAll(() => folder.remove());

const IDENTITY = { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' };

it('ranks as CrossEncoder does', async () => {
  const golden = caseOfOneLabel(IDENTITY);
  const modelDirectory = modelWith(folder, golden.model, { 'config.json': IDENTITY });
  const reranker = await Reranker.load({ modelDirectory, workers: 1 });
  expect(reranker.maxLength).toBe(40);
  for (const { query, documents, predicted, ranked } of golden.answers) {
    const scores = await reranker.score(query, documents);
    for (const [index, [score = Number.NaN]] of scores.entries()) {
      expect(Math.abs(score - (predicted[index] as number))).toBeLessThan(1e-5);
    }
    const rows = await reranker.rank(query, documents, { topN: 2 });
    expect(rows.map(({ index }) => index)).toEqual(ranked.slice(0, 2));
  }
  await expect(reranker.rank('a', ['b', 5 as never])).rejects.toEqual(
    new InputError('expected a string, received number', 1),
  );
  await expect(reranker.rank(null as never, [])).rejects.toThrow(
    'query: expected a string, received null',
  );
  await reranker.close();
  await expect(reranker.rank('a', ['b'])).rejects.toMatchObject({ code: 'DRAINING' });
});

it('ranks by no label of several', async () => {
  const modelDirectory = modelWith(folder, 'roberta-three-labels-float16', {});
  const reranker = await Reranker.load({ modelDirectory, workers: 1 });
  expect((await reranker.score('a', ['b']))[0]).toHaveLength(3);
  await expect(reranker.rank('a', ['b'])).rejects.toThrow(
    'ranking needs a model with one label, this model has 3',
  );
  await reranker.close();
});

it('classifies by labels of the caller', async () => {
  const { cases } = readFixture<{
    cases: {
      model: string;
      config: object;
      answers: { sequence: string; candidate_labels: string[]; labels: string[] }[];
    }[];
  }>('zero-shot.json');
  const [golden] = cases;
  const [answer] = golden?.answers ?? [];
  const modelDirectory = modelWith(folder, golden?.model ?? '', {
    'config.json': golden?.config ?? {},
  });
  const zeroShot = await ZeroShot.load({ modelDirectory, workers: 1 });
  const rows = await zeroShot.classify(answer?.sequence ?? '', answer?.candidate_labels ?? []);
  expect(rows.map(({ label }) => label)).toEqual(answer?.labels);
  await expect(zeroShot.classify('a', [])).rejects.toThrow('labels: expected at least one');
  await expect(
    zeroShot.classify('a', ['b'], { hypothesisTemplate: 'none' }),
  ).rejects.toBeInstanceOf(InputError);
  await zeroShot.close();
});

it('says what is wrong with a folder', async () => {
  const loading = Reranker.load({ modelDirectory: folder.path });
  await expect(loading).rejects.toBeInstanceOf(EngineError);
  await expect(loading).rejects.toMatchObject({ code: 'MODEL_LOAD_FAILED' });
});
