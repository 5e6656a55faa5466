/** Late chunking: an embedding for each part of a text that the encoder reads as a whole. */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EmbedClient } from '../../src/client';
import { Embedder } from '../../src/embedded/embedder';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../../src/tasks/capabilities';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { lateChunking } from '../../src/tasks/embedding/late-chunking';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';

/** Computed by transformers, written by test/parity/late_chunking_golden.py. */
interface Answer {
  readonly model: string;
  readonly chunks: readonly string[];
  /** Tokens of the whole text, including special tokens. */
  readonly tokens: number;
  /** By chunk. */
  readonly values: readonly (readonly number[])[];
}

const TOLERANCE = 1e-5;
const ROOT = path.join(FIXTURES, 'embeddings');
const { answers } = readFixture<{ answers: readonly Answer[] }>('embeddings', 'late-chunking.json');
const MODELS = [...new Set(answers.map(({ model }) => model))];

function expectNear(vectors: readonly ArrayLike<number>[], { values }: Answer): void {
  expect(vectors).toHaveLength(values.length);
  for (const [row, expected] of values.entries()) {
    const actual = vectors[row] as ArrayLike<number>;
    expect(actual).toHaveLength(expected.length);
    const far = expected.map(
      (value, i) => Math.abs(value - (actual[i] as number)) / Math.max(1, Math.abs(value)),
    );
    expect(Math.max(...far)).toBeLessThan(TOLERANCE);
  }
}

type EmbeddingModel = TaskModel<EmbeddingInput, Embedding, EmbeddingMetadata>;

async function withModel(directory: string, use: (model: EmbeddingModel) => Promise<void>) {
  const model = await TaskModel.load(embedding, directory, SCHEDULING);
  try {
    await use(model);
  } finally {
    await model.close();
  }
}

describe.each(MODELS)('%s', (name) => {
  const own = answers.filter(({ model }) => model === name);

  it('has the embeddings of transformers, alone and in batches with other texts', async () => {
    await withModel(path.join(ROOT, name), async (model) => {
      const chunked = model.withTask(lateChunking, model.metadata);
      const alone = [];
      for (const { chunks } of own) alone.push(await chunked.run({ chunks }, {}));
      const [together, whole] = await Promise.all([
        chunked.runAll([...own, ...own], {}),
        model.runAll(
          own.map(({ chunks }) => ({ text: chunks[0] as string })),
          {},
        ),
      ]);
      for (const [i, answer] of own.entries()) {
        expectNear(alone[i]?.vectors ?? [], answer);
        expect(alone[i]?.inference.tokens).toBe(answer.tokens);
        for (const { vectors } of [together[i], together[own.length + i]].flatMap(
          (each) => each ?? [],
        )) {
          expect(vectors).toEqual(alone[i]?.vectors);
        }
        if (answer.chunks.length === 1) expect(alone[i]?.vectors).toEqual([whole[i]?.vector]);
      }
    });
  });
});

it('excludes the prompt from the first chunk if the pooling excludes prompts', async () => {
  const folder = new Folder();
  const directory = path.join(folder.path, 'model');
  cpSync(path.join(ROOT, 'sentences', 'v2-mean-normalize'), directory, { recursive: true });
  const pooling = readFixture<object>(
    'embeddings',
    'sentences',
    'v2-mean-normalize',
    '1_Pooling',
    'config.json',
  );
  const file = path.join(directory, '1_Pooling', 'config.json');
  writeFileSync(file, JSON.stringify({ ...pooling, include_prompt: false }));
  await withModel(directory, async (model) => {
    expect(model.metadata.excludesPrompt).toBe(true);
    const chunked = model.withTask(lateChunking, model.metadata);
    const prompt = 'film: ';
    const [only] = (await chunked.run({ chunks: ['Good.'], prompt }, {})).vectors;
    expect(only).toEqual((await model.run({ text: 'Good.', prompt }, {})).vector);
    const [first, second] = (await chunked.run({ chunks: ['Good.', 'bad'], prompt }, {})).vectors;
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(only);
  });
  folder.remove();
});

describe('POST /v1/embeddings with late_chunking', () => {
  let service: Service;
  const model = 'v2-mean-normalize';
  const own = answers.filter((answer) => answer.model === `sentences/${model}`);
  const url = () => `http://127.0.0.1:${service.port}/models/${model}`;
  const send = (body: object) =>
    post(service, '/v1/embeddings', { model, late_chunking: true, ...body });
  const vectorsOf = ({ json }: Awaited<ReturnType<typeof send>>) =>
    (json as { data: { embedding: number[] }[] }).data.map(({ embedding: vector }) => vector);

  beforeAll(async () => {
    const folders = [model, 'v3-cls-prompts', 'v6-all-modes'].map((name) =>
      path.join(ROOT, 'sentences', name),
    );
    const others = [
      path.join(ROOT, 'exported', 'nomic-bert'),
      path.join(ROOT, 'static', 'model2vec-limit'),
    ];
    service = await startService('serve', { args: [...folders, ...others] });
    await service.waitForLog(({ msg }) => msg === 'models loaded');
  });
  afterAll(killAll);

  it('returns an embedding for each text, and counts the tokens of the whole text', async () => {
    for (const answer of own) {
      const response = await send({ input: answer.chunks });
      expect(response.status).toBe(200);
      expectNear(vectorsOf(response), answer);
      expect(response.json).toMatchObject({
        usage: { prompt_tokens: answer.tokens, total_tokens: answer.tokens },
      });
    }
  });

  it('truncates and normalizes each embedding, and encodes it', async () => {
    const [, answer] = own as [Answer, Answer];
    const short = await send({ input: answer.chunks, dimensions: 3 });
    for (const [row, vector] of vectorsOf(short).entries()) {
      const expected = answer.values[row]?.slice(0, 3) ?? [];
      const norm = Math.hypot(...expected);
      expect(vector).toHaveLength(3);
      for (const [i, value] of vector.entries())
        expect(value).toBeCloseTo((expected[i] ?? 0) / norm, 5);
    }
    const base64 = await send({ input: answer.chunks, encoding_format: 'base64' });
    const data = (base64.json as { data: { embedding: string }[] }).data;
    const decoded = data.map(({ embedding: text }) => {
      const { buffer, byteOffset, byteLength } = Buffer.from(text, 'base64');
      return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
    });
    expectNear(decoded, answer);
    const binary = vectorsOf(await send({ input: answer.chunks, embedding_type: 'ubinary' }));
    expect(binary.map(({ length }) => length)).toEqual(answer.chunks.map(() => 2));
  });

  it('rejects texts over the limit with both numbers, or removes their end', async () => {
    const input = Array.from({ length: 9 }, () => 'The film is good.');
    const rejected = await send({ input });
    expect(rejected.status).toBe(400);
    const message = JSON.stringify(rejected.json);
    expect(message).toMatch(/input: The 9 texts have \d+ tokens together, the model takes 24\./);
    const explicit = await send({ input, truncate: false });
    expect(explicit.json).toEqual(rejected.json);
    const removed = await send({ input, truncate: true });
    expect(removed.status).toBe(400);
    expect(JSON.stringify(removed.json)).toMatch(
      /input: Text \d \(counted from 0\) has no tokens within the limit of 24\. Remove it\./,
    );
    const long = `The film is good${' and good'.repeat(30)}`;
    const cut = await send({ input: ['Good.', long], truncate: true });
    expect(cut.status).toBe(200);
    expect(cut.headers['x-input-truncated']).toBe('true');
    expect(cut.json).toMatchObject({ usage: { total_tokens: 24 } });
    const kept = await send({ input: ['Good.', long], truncation: true });
    expect(vectorsOf(kept)).toEqual(vectorsOf(cut));
  });

  it('rejects texts without tokens, and token IDs', async () => {
    for (const [input, message] of [
      [['Good.', ' \n'], 'input[1]: the text is empty'],
      [['Good.', '\u200b\u0007'], 'input: Text 1 (counted from 0) has no tokens. Remove it.'],
      [[[5, 6, 7]], 'input[0]: late_chunking needs texts, received token IDs'],
    ] as const) {
      const { status, json } = await send({ input });
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  it('rejects models that do not pool by mean', async () => {
    for (const [name, problem] of [
      ['v3-cls-prompts', 'the pooling of this model is cls'],
      ['v6-all-modes', 'the pooling of this model is cls, max, mean'],
      ['nomic-bert', 'this model is an exported program, or has static or sparse embeddings'],
      ['model2vec-limit', 'this model is an exported program, or has static or sparse embeddings'],
    ] as const) {
      const { status, json } = await send({ model: name, input: ['a', 'b'] });
      const message = `late_chunking: expected an encoder with mean pooling, but ${problem}`;
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(message)]);
    }
    const plain = await send({ model: 'v3-cls-prompts', input: ['a', 'b'], late_chunking: false });
    expect(plain.status).toBe(200);
  });

  it('is available in the client and in the embedded model', async () => {
    const [, answer] = own as [Answer, Answer];
    expectNear(await new EmbedClient(url()).embedChunks(answer.chunks), answer);
    const embedder = await Embedder.load({ modelDirectory: path.join(ROOT, 'sentences', model) });
    try {
      expectNear(await embedder.embedChunks(answer.chunks), answer);
      const [vector] = await embedder.embedChunks(answer.chunks, { dimensions: 3 });
      expect(vector).toHaveLength(3);
      await expect(embedder.embedChunks([...answer.chunks, ''])).rejects.toThrow(
        'expected a text with at least one token',
      );
      const long = Array.from({ length: 9 }, () => 'The film is good.');
      await expect(embedder.embedChunks(long)).rejects.toThrow('the model takes 24');
    } finally {
      await embedder.close();
    }
    const other = await Embedder.load({ modelDirectory: path.join(ROOT, 'sentences', 'v6-max') });
    await expect(other.embedChunks(['a', 'b'])).rejects.toThrow('mean pooling');
    await other.close();
  });
});
