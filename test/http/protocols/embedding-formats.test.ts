/** Embeddings with the APIs of Cohere, Ollama, Voyage, Mistral and Jina, of a directory of models. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { encodeVector, type VectorDtype } from '../../../src/tasks/vector-dtypes';
import { post, postRaw, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const TEXTS = ['A quiet, funny film.', 'It rains.'];
const DTYPES: readonly VectorDtype[] = ['float', 'int8', 'uint8', 'binary', 'ubinary'];

const directory = newDirectory();
let service: Service;
let vectors: number[][];

beforeAll(async () => {
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  directory.text('raw', '../embeddings/sentences/v4-weightedmean');
  directory.text('films', 'bert-single-label');
  directory.text('static', '../embeddings/static/sentence-transformers');
  service = await directory.start();
  vectors = (await post(service, '/models/vectors/embed', { inputs: TEXTS })).json as number[][];
});

afterAll(removeDirectories);

const expected = (dtype: VectorDtype) =>
  vectors.map((vector) => [...encodeVector(Float32Array.from(vector), dtype)]);

describe('POST /v1/embeddings', () => {
  const embed = async (body: object) => {
    const { json } = await post(service, '/v1/embeddings', {
      model: 'vectors',
      input: TEXTS,
      ...body,
    });
    return (json as { data: { embedding: unknown }[] }).data.map(({ embedding }) => embedding);
  };

  it.each(DTYPES)('output_dtype %s: numbers and base64', async (dtype) => {
    const numbers = await embed({ output_dtype: dtype });
    expect(numbers).toEqual(dtype === 'float' ? vectors : expected(dtype));
    const encoded = (await embed({ output_dtype: dtype, encoding_format: 'base64' })) as string[];
    for (const [index, text] of encoded.entries()) {
      const { buffer, byteOffset, byteLength } = encodeVector(
        Float32Array.from(vectors[index] as number[]),
        dtype,
      );
      expect(Buffer.from(text, 'base64')).toEqual(Buffer.from(buffer, byteOffset, byteLength));
    }
  });

  it("takes Jina's embedding_type and Mistral's output_dimension", async () => {
    expect(await embed({ embedding_type: 'ubinary' })).toEqual(expected('ubinary'));
    expect(await embed({ output_dimension: 5 })).toEqual(await embed({ dimensions: 5 }));
  });

  it.each(['output_dtype', 'encoding', 'encoding_format'])(
    '%s selects each format',
    async (field) => {
      for (const dtype of DTYPES) {
        const numbers = await embed({ [field]: dtype });
        expect([dtype, numbers]).toEqual([dtype, dtype === 'float' ? vectors : expected(dtype)]);
      }
      expect(await embed({ [field]: null })).toEqual(vectors);
    },
  );

  it('takes embedding_type of Jina as a list of one format', async () => {
    for (const type of ['float', 'base64', 'binary', 'ubinary']) {
      expect(await embed({ embedding_type: [type] })).toEqual(
        await embed({ embedding_type: type }),
      );
    }
    const body = { input: 'a', embedding_type: ['float', 'binary'] };
    const { status, json } = await post(service, '/v1/embeddings', body);
    expect(status).toBe(400);
    const message = expect.stringMatching(
      /^embedding_type: expected one format, found 2\. .*\/v2\/embed/,
    );
    expect(json).toMatchObject({ error: { param: 'embedding_type', message } });
  });

  it.each([
    ['raw', { output_dtype: 'int8' }, 'output_dtype: int8'],
    ['raw', { encoding: 'uint8' }, 'encoding: uint8'],
    ['vectors', { encoding_format: 'int8', normalized: false }, 'encoding_format: int8'],
  ])('%s: names the field that normalizes for %j', async (model, body, problem) => {
    const { status, json } = await post(service, '/v1/embeddings', {
      model,
      input: TEXTS,
      ...body,
    });
    expect(status).toBe(400);
    const message = `${problem} needs normalized embeddings. Set "normalized" to true, or use float, binary or ubinary`;
    expect(json).toMatchObject({ error: { message } });
    const fixed = { model, input: TEXTS, ...body, normalized: true };
    expect((await post(service, '/v1/embeddings', fixed)).status).toBe(200);
  });

  it.each([
    [{ output_dtype: 'int4' }, 'output_dtype'],
    [{ input_type: 'both' }, 'input_type'],
    [{ embedding_type: 'int8' }, 'embedding_type'],
    [{ embedding_type: [] }, 'embedding_type'],
    [{ encoding: 'base64' }, 'encoding'],
    [{ encoding_format: 'int4' }, 'encoding_format'],
    [{ output_dimension: 0 }, 'output_dimension'],
  ])('refuses %j', async (body, param) => {
    const { status, json } = await post(service, '/v1/embeddings', { input: 'a', ...body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { param } });
  });
});

it('POST /embed selects the format by encoding', async () => {
  const ask = (body: object) => post(service, '/models/vectors/embed', { inputs: TEXTS, ...body });
  for (const dtype of DTYPES) {
    const { json } = await ask({ encoding: dtype });
    expect([dtype, json]).toEqual([dtype, dtype === 'float' ? vectors : expected(dtype)]);
  }
  expect((await ask({ encoding: null })).json).toEqual(vectors);
  const { status, json } = await ask({ encoding: 'int8', normalize: false });
  expect(status).toBe(422);
  expect(json).toMatchObject({ error: expect.stringContaining('Set "normalize" to true') });
});

describe('Cohere', () => {
  it('POST /v2/embed: every type in one response', async () => {
    const types = [...DTYPES, 'base64'];
    const body = {
      model: 'vectors',
      texts: TEXTS,
      input_type: 'search_query',
      embedding_types: types,
    };
    const { status, json } = await post(service, '/v2/embed', body);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      texts: TEXTS,
      response_type: 'embeddings_by_type',
      embeddings: { float: vectors, int8: expected('int8'), ubinary: expected('ubinary') },
      meta: { api_version: { version: '2' } },
    });
    const { embeddings } = json as { embeddings: Record<string, unknown> };
    expect(Object.keys(embeddings)).toEqual(types);
  });

  it('POST /v1/embed: a plain list', async () => {
    const { json } = await post(service, '/v1/embed', { model: 'vectors', texts: TEXTS });
    expect(json).toMatchObject({ embeddings: vectors, response_type: 'embeddings_floats' });
  });

  it.each([
    [{ texts: [] }, 400],
    [{ texts: ['a'], embedding_types: ['int4'] }, 400],
    [{ texts: ['a'], input_type: 'image' }, 400],
    [{ texts: ['a'], truncate: 'MIDDLE' }, 400],
    [{ images: ['data:,'] }, 400],
    [{ texts: ['a'], model: 'raw', embedding_types: ['float', 'int8'] }, 400],
    [{ texts: ['a'], model: 'films' }, 404],
  ])('refuses %j', async (body, status) => {
    const answer = await post(service, '/v2/embed', body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ message: expect.any(String) });
  });

  const floats = async (body: object) => {
    const { status, json, headers } = await post(service, '/v2/embed', {
      model: 'vectors',
      ...body,
    });
    expect({ status, json }).toMatchObject({ status: 200 });
    const { embeddings, meta } = json as {
      embeddings: { float: number[][] };
      meta: { billed_units: { input_tokens: number } };
    };
    const isTruncated = headers['x-input-truncated'] === 'true';
    return { rows: embeddings.float, tokens: meta.billed_units.input_tokens, isTruncated };
  };
  const part = (text: string) => ({ type: 'text', text });

  it('inputs are texts; a newline joins the parts of an input', async () => {
    const inputs = [{ content: [part('A quiet,'), part('funny film.')] }, { content: [part('a')] }];
    const body = { texts: ['A quiet,\nfunny film.', 'a'] };
    const plain = await floats(body);
    expect(await floats({ inputs })).toEqual(plain);
    expect(await floats({ inputs, texts: null, images: [] })).toEqual(plain);
    expect(await floats({ ...body, inputs: null, images: null })).toEqual(plain);
    const { json } = await post(service, '/v2/embed', { model: 'vectors', inputs });
    expect(json).not.toHaveProperty('texts');
  });

  it.each([
    [{}, 'texts: is required'],
    [{ texts: null }, 'texts: is required'],
    [{ texts: [] }, 'texts: expected at least one text'],
    [{ inputs: [] }, 'inputs: expected at least one text'],
    [{ images: ['data:,'] }, 'images: is not supported. Send texts'],
    [{ texts: ['a'], images: ['data:,'] }, 'images: is not supported. Send texts'],
    [
      { inputs: [{ content: [part('a'), { type: 'image_url', image_url: { url: 'data:,' } }] }] },
      'inputs[0].content[1].type: images are not supported. Send text parts',
    ],
    [{ inputs: [{ content: [] }] }, 'inputs[0].content: expected at least one text part'],
    [{ inputs: [{}] }, 'inputs[0].content: is required'],
    [{ inputs: [null] }, 'inputs[0].content: is required'],
    [{ inputs: [{ content: [{ type: 'text' }] }] }, 'inputs[0].content[0].text: expected a string'],
    [
      { inputs: [{ content: [part('a')] }], texts: ['b'] },
      /^texts, inputs: send one of the fields/,
    ],
    [{ texts: ['a'], max_tokens: 2 }, 'max_tokens: expected at least 3'],
  ])('names the problem of %j', async (body, message) => {
    const { status, json } = await post(service, '/v2/embed', { model: 'vectors', ...body });
    expect(status).toBe(400);
    expect(json).toEqual({
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it.each(['vectors', 'raw', 'static'])('max_tokens truncates the texts of %s', async (model) => {
    const long = 'a b c d e f g h';
    const whole = await floats({ model, texts: [long] });
    expect(whole.isTruncated).toBe(false);
    const tokens = whole.tokens - 3;
    const end = await floats({ model, texts: [long, 'a'], max_tokens: tokens });
    const cut = await floats({ model, texts: ['a b c d e', 'a'] });
    expect(end).toEqual({ ...cut, isTruncated: true });
    const start = await floats({ model, texts: [long], max_tokens: tokens, truncate: 'START' });
    expect(start.rows).toEqual((await floats({ model, texts: ['d e f g h'] })).rows);
    for (const max_tokens of [whole.tokens, 100_000, null]) {
      expect(await floats({ model, texts: [long], max_tokens })).toEqual(whole);
    }
    const none = { model, texts: ['a', long], max_tokens: tokens, truncate: 'NONE' };
    const { status, json } = await post(service, '/v2/embed', none);
    expect(status).toBe(422);
    expect(json).toEqual({ message: expect.stringMatching(/^texts\[1\]: .* tokens/) });
  });

  it('truncate NONE refuses a text that is too long', async () => {
    const texts = ['film '.repeat(3000)];
    expect((await post(service, '/v2/embed', { texts, truncate: 'NONE' })).status).toBe(422);
    expect((await post(service, '/v2/embed', { texts })).status).toBe(200);
  });
});

describe('Ollama', () => {
  it('POST /api/embed and /api/embeddings', async () => {
    const { json } = await post(service, '/api/embed', { model: 'vectors:latest', input: TEXTS });
    expect(json).toMatchObject({ model: 'vectors:latest', embeddings: vectors });
    const alone = await post(service, '/api/embeddings', { model: 'vectors', prompt: TEXTS[0] });
    expect(alone.json).toEqual({ embedding: vectors[0] });
  });

  it('GET /api/tags, POST /api/show and GET /api/version', async () => {
    const { json } = await request(service, { path: '/api/tags' });
    const { models } = json as { models: { name: string }[] };
    expect(models.map(({ name }) => name).sort()).toEqual(
      ['raw', 'static', 'vectors'].map((name) => `${name}:latest`),
    );
    const shown = await post(service, '/api/show', { model: 'vectors' });
    expect(shown.json).toMatchObject({
      capabilities: ['embedding'],
      details: { family: 'bert' },
      model_info: { 'general.architecture': 'bert', 'bert.embedding_length': vectors[0]?.length },
    });
    const { json: version } = await request(service, { path: '/api/version' });
    expect(version).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  });

  it('GET /api/ps and /api/tags have the size of the files', async () => {
    const listed = (await request(service, { path: '/api/tags' })).json as { models: object[] };
    const running = (await request(service, { path: '/api/ps' })).json as { models: object[] };
    expect(running.models).toHaveLength(3);
    for (const [index, model] of running.models.entries()) {
      const { modified_at: _, ...fields } = listed.models[index] as Record<string, unknown>;
      expect(model).toMatchObject({ ...fields, size_vram: 0, expires_at: '9999-12-31T23:59:59Z' });
    }
    const folder = path.join(directory.path, 'vectors');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true });
    const sizes = files.flatMap((file) =>
      file.isFile() ? statSync(path.join(file.parentPath, file.name)).size : [],
    );
    const { size } = listed.models.find(
      (model) => (model as { name: string }).name === 'vectors:latest',
    ) as { size: number };
    expect(size).toBeGreaterThan(Math.max(...sizes));
    expect(size).toBeLessThanOrEqual(sizes.reduce((sum, each) => sum + each));
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', undefined])(
    'takes JSON of the Content-Type %s',
    async (type) => {
      const send = (route: string, body: object) =>
        postRaw(service, route, JSON.stringify(body), { headers: { 'content-type': type } });
      const { json } = await send('/api/embed', { model: 'vectors', input: TEXTS });
      expect(json).toMatchObject({ embeddings: vectors });
      const body = { model: 'vectors', prompt: TEXTS[0] };
      expect((await send('/api/embeddings', body)).json).toEqual({ embedding: vectors[0] });
      expect((await send('/api/show', { model: 'vectors' })).status).toBe(200);
      expect((await postRaw(service, '/api/embed', '{', {})).status).toBe(400);
    },
  );

  it.each([{}, { input: '' }, { input: [] }, { input: null }])(
    'has no embeddings of no text: %j',
    async (body) => {
      const { status, json } = await post(service, '/api/embed', { model: 'vectors', ...body });
      expect(status).toBe(200);
      expect(json).toMatchObject({ model: 'vectors', embeddings: [], prompt_eval_count: 0 });
      const old = await post(service, '/api/embeddings', { model: 'vectors' });
      expect(old.json).toEqual({ embedding: [] });
    },
  );

  it('POST /api/show reads model or name, and needs one of them', async () => {
    const shown = await post(service, '/api/show', { model: 'vectors', name: null });
    expect((await post(service, '/api/show', { name: 'vectors' })).json).toEqual(shown.json);
    for (const body of [{}, { model: null }, { model: '' }]) {
      const { status, json } = await post(service, '/api/show', body);
      expect([status, json]).toEqual([400, { error: 'model: is required' }]);
    }
  });

  it('truncate false rejects a text that is too long with 400', async () => {
    const body = { model: 'vectors', input: ['a', 'film '.repeat(3000)] };
    const { status, json } = await post(service, '/api/embed', { ...body, truncate: false });
    expect(status).toBe(400);
    expect(json).toEqual({ error: expect.stringMatching(/^input\[1\]: /) });
    expect((await post(service, '/api/embed', body)).status).toBe(200);
  });

  it('names the models in the error of an unknown one', async () => {
    const { status, json } = await post(service, '/api/embed', { model: 'other', input: 'a' });
    expect(status).toBe(404);
    expect(json).toEqual({ error: expect.stringContaining('"vectors"') });
  });
});
