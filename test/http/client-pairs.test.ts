import { RerankClient, ResponseError, ZeroShotClient } from '../../src/client';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { ModelsDirectory } from '../helpers/models-directory';
import { killAll, type Service } from '../helpers/service';

const DOCUMENTS = ['A quiet marvel.', 'Two hours.', 'It is dull.'];
const models = new ModelsDirectory();
let service: Service;

beforeAll(async () => {
  const marked = { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' };
  modelWith(models.folder, 'roberta-one-label', { 'config.json': marked }, 'reranker');
  const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
  modelWith(models.folder, 'roberta-three-labels-float16', { 'config.json': { id2label } }, 'nli');
  service = await models.start();
});

afterAll(async () => {
  await killAll();
  models.folder.remove();
});

it('ranks', async () => {
  const client = new RerankClient(`${service.origin}/models/reranker`);
  const { json } = await post(service, '/rerank', {
    query: 'How long?',
    texts: DOCUMENTS,
    raw_scores: true,
  });
  expect(await client.rerank('How long?', DOCUMENTS)).toEqual(near(json));
  expect(await client.rerank('How long?', DOCUMENTS, { topN: 1 })).toEqual(
    near((json as object[]).slice(0, 1)),
  );
  expect((await client.info()).limits.list_length).toBeGreaterThan(1);
  const refused = client.rerank('How long?', []);
  await expect(refused).rejects.toBeInstanceOf(ResponseError);
  await expect(refused).rejects.toMatchObject({
    status: 422,
    detail: 'documents: expected at least one document',
  });
});

it('classifies by labels of the caller', async () => {
  const client = new ZeroShotClient(`${service.origin}/models/nli`);
  const labels = ['sports', 'cinema'];
  const { scores, ...rest } = await client.zeroShot('A quiet film.', labels);
  expect(rest).toEqual({ input_text: 'A quiet film.', labels: expect.arrayContaining(labels) });
  expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(1, 3);
  const { json } = await post(service, '/zero-shot', {
    text: 'A quiet film.',
    candidate_labels: labels,
    multi_label: true,
    hypothesis_template: 'It is {}.',
  });
  const options = { multiLabel: true, hypothesisTemplate: 'It is {}.' };
  expect(await client.zeroShot('A quiet film.', labels, options)).toEqual(near(json));
  expect(await client.analyze('A quiet film.')).toHaveProperty('label');
});
