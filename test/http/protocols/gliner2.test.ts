import { Folder } from '../../helpers/files';
import { type GoldenGliner2, readGliner2Golden } from '../../helpers/gliner2';
import { post } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { killAll, type Service, startService } from '../../helpers/service';

/** Rounding of scores and probabilities. */
const ROUNDING = 0.5e-4;

const NAME = 'deberta-lstm';
const golden = readGliner2Golden(NAME);
const folder = new Folder();
let service: Service;

beforeAll(async () => {
  modelWith(folder, `../gliner2/${NAME}`, {}, 'entities');
  modelWith(folder, '../gliner2/bert-boundary', {}, 'classes');
  service = await startService('models', { args: [folder.path] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
});

afterAll(async () => {
  await killAll();
  folder.remove();
});

/** An answer of gliner2 with several entities in an ASCII text. */
const row = golden.entities.find(
  ({ text, labels, threshold, entities }) =>
    text === 0 &&
    threshold === 0.5 &&
    Array.isArray(labels) &&
    Object.values(entities).flat().length > 1,
) as GoldenGliner2['entities'][number];
const expected = Object.entries(row?.entities ?? {})
  .flatMap(([label, spans]) => spans.map(([start, end, score]) => ({ label, start, end, score })))
  .sort((a, b) => a.start - b.start);
const request = { labels: row?.labels, threshold: row?.threshold };

interface Tag {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

function expectTags(found: readonly Tag[]): void {
  expect(found.map(({ start, end }) => [start, end]).sort()).toEqual(
    expected.map(({ start, end }) => [start, end]).sort(),
  );
  const sum = (tags: readonly Tag[]) => tags.reduce((all, { score }) => all + score, 0);
  expect(Math.abs(sum(found) - sum(expected))).toBeLessThan(found.length * (ROUNDING + 1e-5));
}

it('finds the entities of gliner2', async () => {
  const text = golden.texts[0];
  const { status, json } = await post(service, '/models/entities/tag', { text, ...request });
  expect(status).toBe(200);
  expectTags((json as { tags: readonly Tag[] }).tags);
});

it('finds entities with the Hugging Face API', async () => {
  const body = { inputs: golden.texts[0], parameters: request };
  const { status, json } = await post(service, '/models/entities', body);
  expect(status).toBe(200);
  expectTags(json as readonly Tag[]);
});

it('classifies with the Hugging Face API', async () => {
  const parameters = { candidate_labels: ['film', 'music'] };
  const { status, json } = await post(service, '/models/entities', {
    inputs: 'A film!',
    parameters,
  });
  expect(status).toBe(200);
  const { classes } = golden;
  const expected = classes.find(({ text, task }) => text === 1 && task === 'classification');
  expect(json).toHaveLength(2);
  for (const { label, score } of json as readonly { label: string; score: number }[]) {
    const index = parameters.candidate_labels.indexOf(label);
    expect(Math.abs(score - (expected?.softmax[index] as number))).toBeLessThanOrEqual(1e-5);
  }
});

it('reads descriptions of labels', async () => {
  const text = golden.texts[0];
  const labels = { person: 'someone with a name', city: 'a place' };
  const { status } = await post(service, '/models/entities/tag', { text, labels });
  expect(status).toBe(200);
  const wrong = await post(service, '/models/entities/tag', { text, labels: { ' ': 'a' } });
  expect(wrong.status).toBe(422);
});

it.each(['entities', 'classes'])('answers questions and classifies: %s', async (name) => {
  const decided = await post(service, `/models/${name}/decide`, {
    state: golden.texts[1],
    questions: [
      { type: 'choice', options: ['a', { label: 'b', description: 'the second' }] },
      { type: 'predicate', instructions: 'It is a film.' },
    ],
  });
  expect(decided.status).toBe(200);
  const { answers } = decided.json as { answers: readonly object[] };
  expect(answers).toHaveLength(2);
  const classified = await post(service, `/models/${name}/zero-shot`, {
    text: golden.texts[1],
    candidate_labels: ['a', 'b'],
  });
  expect(classified.status).toBe(200);
  const { scores } = classified.json as { scores: readonly [number, number] };
  expect(Math.abs(scores[0] + scores[1] - 1)).toBeLessThan(2 * ROUNDING + 1e-5);
});

it('finds no entities with a boundary model', async () => {
  await service.waitForLog(({ msg }) => msg?.startsWith('config.json: architecture: boundary'));
  const body = { text: 'a', labels: ['b'] };
  expect((await post(service, '/models/classes/tag', body)).status).toBe(404);
});

it('serves tensors', async () => {
  const labels = JSON.stringify(request.labels);
  const { status, json } = await post(service, '/v2/models/entities/infer', {
    inputs: [
      { name: 'TEXT', datatype: 'BYTES', shape: [1], data: [golden.texts[0]] },
      { name: 'LABELS', datatype: 'BYTES', shape: [1], data: [labels] },
    ],
  });
  expect(status).toBe(200);
  const { outputs } = json as { outputs: readonly { name: string; data: readonly number[] }[] };
  expect(outputs.find(({ name }) => name === 'ENTITIES')?.data).toEqual([expected.length]);
});
