/** A GLiNER model in a directory of models: its own routes, Hugging Face's and Open Inference's. */
import { EntityClient } from '../../src/client';
import { codePointCounter } from '../../src/lib/code-points';
import { readFixture } from '../helpers/golden';
import { type Answer, post } from '../helpers/http';
import { modelsOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import type { Service } from '../helpers/service';

interface Tag {
  readonly label: string;
  readonly score: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}
interface Golden {
  readonly texts: readonly string[];
  readonly answers: readonly {
    readonly text: number;
    readonly labels: readonly string[];
    readonly threshold: number;
    readonly flat_ner: boolean;
    readonly multi_label: boolean;
    readonly entities: readonly (readonly [number, number, string, number])[];
  }[];
}

const { texts, answers } = readFixture<Golden>('gliner', 'deberta-marker-v0', 'golden.json');
const LABELS = ['person', 'city'];

let service: Service;
const ask = (route: string, body: object): Promise<Answer> =>
  post(service, `/models/finder${route}`, body);

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('finder', '../gliner/deberta-marker-v0');
  service = await directory.start({ env: { MAX_LIST_LENGTH: '8' } });
});

afterAll(removeDirectories);

it('is known as a model of entities', async () => {
  expect(await modelsOf(service)).toMatchObject([
    { name: 'finder', task: 'entity-recognition', serving: '1' },
  ]);
});

it.each(answers.filter((_, index) => index % 7 === 0))(
  'POST /tag answers as gliner does: $labels, $threshold, $text',
  async ({ text: index, labels, threshold, flat_ner: flat, multi_label, entities }) => {
    const text = texts[index] as string;
    const { status, json } = await ask('/tag', { text, labels, threshold, flat, multi_label });
    expect(status).toBe(200);
    const { tags } = json as { readonly tags: readonly Tag[] };
    const toCodePoint = codePointCounter(text);
    expect(
      tags.map(({ start, end, label }) => [toCodePoint(start), toCodePoint(end), label]),
    ).toEqual(entities.map((entity) => entity.slice(0, 3)));
    for (const [position, { score, word, start, end }] of tags.entries()) {
      expect(Math.abs(score - (entities[position]?.[3] as number))).toBeLessThanOrEqual(6e-5);
      expect(word).toBe(text.slice(start, end));
    }
  },
);

it('POST /tag/batch answers as POST /tag', async () => {
  const { json } = await ask('/tag/batch', { texts, labels: LABELS, threshold: 0.3 });
  const { results } = json as { readonly results: readonly object[] };
  for (const [index, text] of texts.entries()) {
    const { json: alone } = await ask('/tag', { text, labels: LABELS, threshold: 0.3 });
    expect(results[index]).toEqual(alone);
  }
});

it('reads descriptions of labels instead of their names', async () => {
  const text = texts[0] as string;
  const names = await ask('/tag', { text, labels: ['a', 'person'], threshold: 0.3 });
  const described = { a: 'a', b: 'person' };
  const { json } = await ask('/tag', { text, labels: described, threshold: 0.3 });
  const renamed = (names.json as { readonly tags: readonly Tag[] }).tags.map((tag) => ({
    ...tag,
    label: tag.label === 'person' ? 'b' : tag.label,
  }));
  expect(renamed.length).toBeGreaterThan(0);
  expect((json as { readonly tags: readonly Tag[] }).tags).toEqual(renamed);
});

it.each([
  [{}, /^labels: is required/],
  [{ labels: 'person' }, /^labels: expected an array of labels, or an object/],
  [{ labels: [] }, /^labels: expected 1 to 256 labels, found 0/],
  [{ labels: ['a', ' '] }, /^labels: \[1\]: expected a label/],
  [{ labels: ['a'.repeat(1001)] }, /^labels: \[0\]: expected at most 1000 characters/],
  [{ labels: { a: 1 } }, /^labels: \[0\]: expected a label/],
  [{ labels: ['a'], threshold: 2 }, /^threshold: expected at most 1/],
  [{ labels: ['a'], flat: 'yes' }, /^flat: expected true or false/],
])('rejects %j', async (body, message) => {
  const { status, json } = await ask('/tag', { text: 'A text.', ...body });
  expect(status).toBe(422);
  expect((json as { readonly detail: string }).detail).toMatch(message);
});

it('names the text whose labels are too long for the model', async () => {
  const labels = Array.from({ length: 200 }, (_, i) => `label number ${i}`);
  const { status, json } = await ask('/tag/batch', { texts: ['A.', 'B.'], labels });
  expect(status).toBe(422);
  // Both are too long, and are tokenized at the same time.
  expect((json as { readonly detail: string }).detail).toMatch(
    /^texts\[[01]\]: The labels have \d+ tokens/,
  );
});

it('answers requests of the Hugging Face API, with offsets in code points', async () => {
  const text = `😀 ${texts[0]}`;
  const parameters = { labels: LABELS, threshold: 0.3 };
  const { json: own } = await ask('/tag', { text, ...parameters });
  const { json } = await ask('', { inputs: text, parameters });
  const toCodePoint = codePointCounter(text);
  const expected = (own as { readonly tags: readonly Tag[] }).tags;
  expect(expected.length).toBeGreaterThan(0);
  expect(json).toEqual(
    expected.map(({ label, word, start, end }) => ({
      entity_group: label,
      score: expect.any(Number),
      word,
      start: toCodePoint(start),
      end: toCodePoint(end),
    })),
  );
});

it('has tensors for texts and labels', async () => {
  const inputs = (labels: readonly string[]) => [
    { name: 'TEXT', datatype: 'BYTES', shape: [2], data: texts.slice(0, 2) },
    { name: 'LABELS', datatype: 'BYTES', shape: [2], data: labels },
  ];
  const route = '/v2/models/finder/infer';
  const json = JSON.stringify(LABELS);
  const { status, json: answer } = await post(service, route, { inputs: inputs([json, json]) });
  expect(status).toBe(200);
  const { outputs } = answer as {
    readonly outputs: readonly { readonly name: string; readonly data: readonly unknown[] }[];
  };
  const data = Object.fromEntries(outputs.map(({ name, data }) => [name, data]));
  const { json: own } = await ask('/tag/batch', { texts: texts.slice(0, 2), labels: LABELS });
  const { results } = own as { readonly results: readonly { readonly tags: readonly Tag[] }[] };
  expect(data.ENTITIES).toEqual(results.map(({ tags }) => tags.length));
  expect(data.LABEL).toEqual(results.flatMap(({ tags }) => tags.map(({ label }) => label)));
  const wrong = await post(service, route, { inputs: inputs([json, 'person']) });
  expect(wrong.status).toBe(400);
  expect(JSON.stringify(wrong.json)).toContain('LABELS[1]: expected a JSON array of labels');
});

it('has a client', async () => {
  const client = new EntityClient(`${service.origin}/models/finder`);
  const text = texts[0] as string;
  const { json } = await ask('/tag', { text, labels: LABELS, threshold: 0.2, flat: false });
  expect(await client.tag(text, LABELS, { threshold: 0.2, flat: false })).toEqual(json);
  expect(await client.tagBatch([text], LABELS, { threshold: 0.2, flat: false })).toEqual([json]);
});
