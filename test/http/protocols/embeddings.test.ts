/** Vectors over every protocol that asks for them, of a directory of models. */
import OpenAI from 'openai';
import { EmbedClient } from '../../../src/client';
import { post, request } from '../../helpers/http';
import { modelOf, newDirectory, removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const MODEL = '../embeddings/sentences/v2-mean-normalize';
const TEXTS = ['A quiet, funny film.', 'It rains.', 'A quiet, funny film.'];

const directory = newDirectory();
let service: Service;

beforeAll(async () => {
  directory.text('vectors', MODEL, { aliases: ['text-embedding-3-small'] });
  directory.text('films', 'bert-single-label');
  directory.text('words', '../embeddings/splade/bert');
  directory.text('tokens', '../embeddings/sentences/v6-tokens');
  directory.text('tokens-late', '../embeddings/late-interaction/fixed');
  directory.text('vectors-exported', '../embeddings/exported/nomic-bert');
  service = await directory.start();
});

afterAll(removeDirectories);

const embed = async (body: object, path = '/embed'): Promise<number[][]> =>
  (await post(service, path, body)).json as number[][];

function lengthOf(vector: readonly number[]): number {
  return Math.hypot(...vector);
}

it('is recognized by its files, beside a classifier', async () => {
  const model = await modelOf(service, 'vectors');
  expect(model).toMatchObject({ task: 'embedding', serving: '1', default: true });
  const { json } = await request(service, { path: '/models/vectors/info' });
  expect(json).toMatchObject({
    model: { pooling: ['mean'], normalizes: true, similarity: 'cosine' },
    model_type: { embedding: { pooling: 'mean' } },
  });
});

it('gives equal texts equal vectors, alone and in a list', async () => {
  const [first, second, third] = await embed({ inputs: TEXTS });
  expect(third).toEqual(first);
  expect(second).not.toEqual(first);
  expect(await embed({ inputs: TEXTS[0] })).toEqual([first]);
  expect(await embed({ inputs: TEXTS[0] }, '/models/vectors/embed')).toEqual([first]);
  expect(lengthOf(first as number[])).toBeCloseTo(1, 6);
});

it('has the other paths of text-embeddings-inference', async () => {
  const body = { model: 'vectors', input: TEXTS };
  const { json } = await post(service, '/v1/embeddings', body);
  const { data } = json as { data: unknown };
  expect((await post(service, '/embeddings', body)).json).toMatchObject({ data });
  const vectors = await embed({ inputs: TEXTS });
  expect(await embed({ inputs: TEXTS }, '/models/vectors/invocations')).toEqual(vectors);
});

it("answers the package's own client", async () => {
  const client = new EmbedClient(`${service.origin}/models/vectors`);
  const [whole = []] = await embed({ inputs: TEXTS[0] });
  expect(await client.embed(TEXTS[0] as string)).toEqual(Float32Array.from(whole));
  const [short] = await client.embedBatch([TEXTS[1] as string], { dimensions: 4 });
  expect(short).toHaveLength(4);
  await expect(client.embedBatch([])).rejects.toMatchObject({
    status: 400,
    detail: 'Input validation error: `inputs` cannot be empty',
  });
});

it('writes long lists on another thread, each vector as alone', async () => {
  const [alone] = await embed({ inputs: TEXTS[0] });
  const many = await embed({ inputs: Array(600).fill(TEXTS[0]) });
  expect(many).toEqual(Array(600).fill(alone));
});

it('writes the fewest decimals of each float32', async () => {
  const { text } = await post(service, '/embed', { inputs: TEXTS });
  const numbers = [...text.matchAll(/-?\d[\d.e+-]*/g)].map(([number]) => number);
  expect(numbers.length).toBe(48);
  for (const number of numbers) {
    // Nine digits always tell a float32; what has fewer has to be read as the same.
    expect(number.replace(/e.*/, '').replaceAll(/\D/g, '').replace(/^0+/, '').length).toBeLessThan(
      10,
    );
  }
});

describe('the `openai` client', () => {
  const client = () =>
    new OpenAI({ baseURL: `${service.origin}/v1`, apiKey: 'none', maxRetries: 0 });

  it('gets vectors, which it asks for in base64', async () => {
    const { data, model, usage } = await client().embeddings.create({
      model: 'text-embedding-3-small',
      input: TEXTS,
    });
    expect(data.map(({ embedding }) => embedding)).toEqual(
      (await embed({ inputs: TEXTS })).map((vector) => vector.map(Math.fround)),
    );
    expect(model).toBe('vectors');
    expect(usage.prompt_tokens).toBe(usage.total_tokens);
    expect(usage.total_tokens).toBeGreaterThan(TEXTS.length * 3);
  });

  it('gets them shorter, with a length of 1 again', async () => {
    const { data } = await client().embeddings.create({
      model: 'vectors',
      input: TEXTS[0] as string,
      dimensions: 5,
      encoding_format: 'float',
    });
    const [{ embedding } = { embedding: [] }] = data;
    expect(embedding).toHaveLength(5);
    expect(lengthOf(embedding)).toBeCloseTo(1, 6);
    const [whole = []] = await embed({ inputs: TEXTS[0] });
    const share = (whole[0] as number) / (whole[1] as number);
    expect((embedding[0] as number) / (embedding[1] as number)).toBeCloseTo(share, 4);
  });

  it('is told what is wrong', async () => {
    const ask = (body: object) =>
      client().embeddings.create({ model: 'vectors', input: 'a', ...body } as never);
    await expect(ask({ model: 'other' })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      message: expect.stringContaining('"vectors"'),
    });
    await expect(ask({ model: 'films' })).rejects.toMatchObject({ status: 404 });
    await expect(ask({ input: '' })).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(ask({ input: [] })).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(ask({ input: ['a', []] })).rejects.toThrow(/input\[1\]: cannot be an empty list/);
    await expect(ask({ input: 5 })).rejects.toThrow(/input: expected a string, a list of strings/);
    await expect(ask({ input: ['a', 3] })).rejects.toThrow(/input\[1\]: expected a string/);
    await expect(ask({ dimensions: 4096 })).rejects.toThrow(/dimensions: expected at most/);
  });
});

describe('texts of Jina, as objects', () => {
  const ask = (input: unknown) => post(service, '/v1/embeddings', { model: 'vectors', input });

  it('have the embeddings of their strings, next to strings and token IDs', async () => {
    const [ids] = (await post(service, '/tokenize', { model: 'vectors', inputs: 'a' })).json as [
      { id: number }[],
    ];
    const plain = await ask(['It rains.', 'a', 'a']);
    const mixed = await ask([{ text: 'It rains.' }, 'a', ids.map(({ id }) => id)]);
    expect(mixed.status).toBe(200);
    const dataOf = ({ json }: typeof plain) => (json as { data: unknown }).data;
    expect(dataOf(mixed)).toEqual(dataOf(plain));
  });

  it.each([
    [[{ image: 'data:,' }], 'input[0].image: is not supported. Send texts'],
    [['a', { text: 5 }], 'input[1].text: expected a string'],
    [[{ text: '' }], 'input[0].text: cannot be an empty string'],
    [[{}], 'input[0]: expected a string, or an object with a string "text"'],
    [[null], 'input[0]: expected a string'],
  ])('rejects %j', async (input, message) => {
    const { status, json } = await ask(input);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { message, param: 'input' } });
  });
});

describe('text-embeddings-inference', () => {
  it.each([
    ['/models/vectors/embed', '', 'inputs'],
    ['/models/vectors/embed', [''], 'inputs[0]'],
    ['/models/vectors/embed', [], 'inputs'],
    ['/models/vectors/embed', ['a', []], 'inputs[1]'],
    ['/models/tokens/embed_all', [], 'inputs'],
    ['/models/words/embed_sparse', ['a', ''], 'inputs[1]'],
  ])('%s rejects the empty inputs %j', async (path, inputs, place) => {
    const { status, json } = await post(service, path, { inputs });
    const error = `Input validation error: \`${place}\` cannot be empty`;
    expect([status, json]).toEqual([400, { error, error_type: 'Empty' }]);
  });

  it.each([
    ['/models/vectors/embed', 'a '.repeat(2000), 2002],
    ['/models/vectors/embed', Array(600).fill(5), 600],
    ['/models/tokens/embed_all', 'a '.repeat(2000), 2002],
    ['/models/words/embed_sparse', 'a '.repeat(2000), 2002],
  ])('%s counts the tokens of an input that is too long', async (path, long, count) => {
    const info = await request(service, { path: path.replace(/\w+$/, 'info') });
    const { max_input_length: most } = info.json as { max_input_length: number };
    const body = { inputs: ['a', long], truncate: false };
    const { status, json } = await post(service, path, body);
    const problem = `must have less than ${most} tokens. Given: ${count}`;
    const error = `Input validation error: \`inputs[1]\` ${problem}`;
    expect([status, json]).toEqual([422, { error, error_type: 'Validation' }]);
  });

  it('counts characters in a header', async () => {
    const inputs = ['a 😀', 'bc', [5, 6]];
    const { headers } = await post(service, '/models/vectors/embed', { inputs });
    expect(headers['x-compute-characters']).toBe('7');
  });

  it('compares sentences', async () => {
    const [source_sentence, ...sentences] = TEXTS;
    const { json } = await post(service, '/similarity', { inputs: { source_sentence, sentences } });
    const [other, same] = json as [number, number];
    expect(same).toBeCloseTo(1, 6);
    expect(other).toBeLessThan(same);
  });

  it('refuses what it should not cut', async () => {
    const long = { inputs: 'word '.repeat(2000), truncate: false };
    const { status, json } = await post(service, '/embed', long);
    expect(status).toBe(422);
    expect(json).toMatchObject({ error_type: 'Validation' });
    expect((await post(service, '/embed', { inputs: 'word '.repeat(2000) })).status).toBe(200);
  });

  it('names the prompts that there are', async () => {
    const { status, json } = await post(service, '/embed', { inputs: 'a', prompt_name: 'none' });
    expect(status).toBe(422);
    expect(json).toMatchObject({ error: expect.stringMatching(/^prompt_name: .*no prompts/) });
  });
});

describe('other vectors', () => {
  it('has the words that weigh anything, as the tensor has them', async () => {
    const { json } = await post(service, '/embed_sparse', { inputs: TEXTS });
    const told = json as { index: number; value: number }[][];
    const inputs = [{ name: 'TEXT', datatype: 'BYTES', shape: [3], data: TEXTS }];
    const { json: dense } = await post(service, '/v2/models/words/infer', { inputs });
    const [output] = (dense as { outputs: { shape: number[]; data: number[] }[] }).outputs;
    const size = output?.shape[1] as number;
    for (const [row, words] of told.entries()) {
      const weights = output?.data.slice(row * size, (row + 1) * size).map(Math.fround) as number[];
      const sparse = [...weights.entries()].filter(([, value]) => value !== 0);
      expect(words.map(({ index, value }) => [index, Math.fround(value)])).toEqual(sparse);
    }
    expect(told[2]).toEqual(told[0]);
    expect(told[1]).not.toEqual(told[0]);
  });

  it('has a vector of each token', async () => {
    const { json } = await post(service, '/embed_all', { inputs: TEXTS });
    const [first, second, third] = json as number[][][];
    expect(third).toEqual(first);
    expect(first?.length).toBeGreaterThan(second?.length as number);
    for (const vector of first as number[][]) expect(lengthOf(vector)).toBeCloseTo(1, 5);
    const { json: alone } = await post(service, '/models/tokens/embed_all', { inputs: TEXTS[1] });
    expect(alone).toEqual([second]);
  });
});

describe('late interaction', () => {
  const ask = async (inputs: unknown, prompt_name?: string): Promise<number[][][]> =>
    (await post(service, '/models/tokens-late/embed_all', { inputs, prompt_name }))
      .json as number[][][];

  it('reads queries otherwise than documents, by the name of the prompt', async () => {
    const queries = await ask(TEXTS, 'query');
    expect(queries.map(({ length }) => length)).toEqual([16, 16, 16]);
    expect(queries[2]).toEqual(queries[0]);
    const [document = []] = await ask(TEXTS[0], 'document');
    const [text = []] = await ask(TEXTS[0]);
    // "[D] " is before the one; of both the punctuation and [SEP] have no vector.
    expect(document.length).toBeGreaterThan(text.length);
    expect(document.length).toBeLessThan(16);
    for (const vector of [...document, ...text]) expect(lengthOf(vector)).toBeCloseTo(1, 5);
  });

  it('names the prompts that there are', async () => {
    const body = { inputs: 'a', prompt_name: 'passage' };
    const { status, json } = await post(service, '/models/tokens-late/embed_all', body);
    expect(status).toBe(422);
    expect(json).toMatchObject({
      error: expect.stringContaining('expected one of query, document'),
    });
  });
});

describe('token ids', () => {
  const ask = (input: unknown) => post(service, '/v1/embeddings', { model: 'vectors', input });
  const vectorsOf = ({ json }: { json: unknown }) =>
    (json as { data: { embedding: number[] }[] }).data.map(({ embedding }) => embedding);

  it('are read as they are, one list of them or several', async () => {
    const [one = []] = vectorsOf(await ask([2, 5, 3]));
    expect(lengthOf(one)).toBeCloseTo(1, 5);
    expect(
      vectorsOf(
        await ask([
          [2, 5, 3],
          [2, 6, 3],
        ]),
      )[0],
    ).toEqual(one);
  });

  it('are refused where the model has none such, or takes fewer', async () => {
    const unknown = await ask([2, 2_000_000_000, 3]);
    expect(unknown.status).toBe(400);
    expect(unknown.json).toMatchObject({
      error: { message: expect.stringContaining('received 2000000000') },
    });
    const long = await ask(Array(5000).fill(5));
    expect(long.status).toBe(400);
    expect((await ask([2, -1])).status).toBe(400);
    expect((await post(service, '/embed', { inputs: 'still here' })).status).toBe(200);
  });
});

describe('what torch.export saved', () => {
  it('is recognized by its files, and answers as other models of vectors', async () => {
    expect(await modelOf(service, 'vectors-exported')).toMatchObject({ task: 'embedding' });
    const path = '/models/vectors-exported';
    const { json } = await request(service, { path: `${path}/info` });
    expect(json).toMatchObject({
      model: { pooling: ['mean'], normalizes: true, dimensions: 16 },
    });
    const vectors = await embed({ inputs: TEXTS }, `${path}/embed`);
    expect(vectors[2]).toEqual(vectors[0]);
    expect(lengthOf(vectors[1] as number[])).toBeCloseTo(1, 5);
    const [query] = await embed({ inputs: TEXTS[0], prompt_name: 'search_query' }, `${path}/embed`);
    expect(query).not.toEqual(vectors[0]);
  });

  it('takes texts alone', async () => {
    const { status, json } = await post(service, '/v1/embeddings', {
      model: 'vectors-exported',
      input: [2, 5, 3],
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { message: expect.stringContaining('expected texts') } });
  });
});

describe('the Open Inference Protocol', () => {
  it('has the vectors as a tensor', async () => {
    const inputs = [{ name: 'TEXT', datatype: 'BYTES', shape: [3], data: TEXTS }];
    const { json } = await post(service, '/v2/models/vectors/infer', { inputs });
    const vectors = await embed({ inputs: TEXTS, normalize: false });
    const [output] = (json as { outputs: { shape: number[]; data: number[] }[] }).outputs;
    expect(output?.shape).toEqual([3, vectors[0]?.length]);
    expect(output?.data.map(Math.fround)).toEqual(vectors.flat().map(Math.fround));
  });
});

describe('Hugging Face', () => {
  it('gives a vector for a text, and a list for a list', async () => {
    const path = '/models/vectors';
    const vectors = await embed({ inputs: TEXTS, normalize: false });
    expect(await embed({ inputs: TEXTS }, path)).toEqual(vectors);
    expect(await embed({ inputs: TEXTS[0] }, path)).toEqual(vectors[0]);
    const [source_sentence, ...sentences] = TEXTS;
    const compared = await post(service, path, { inputs: { source_sentence, sentences } });
    expect((compared.json as number[])[1]).toBeCloseTo(1, 6);
  });
});
