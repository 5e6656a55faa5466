import path from 'node:path';
import { EmbedClient } from '../../src/client';
import { Embedder } from '../../src/embedded/embedder';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { multiEmbedding } from '../../src/tasks/multi-embedding-views';
import { TaskModel } from '../../src/tasks/task-model';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';

/** Answers of FlagEmbedding, written by test/parity/bge_m3_golden.py. */
interface Answer {
  readonly dense: readonly number[];
  /** By token ID. */
  readonly sparse: Readonly<Record<string, number>>;
  readonly colbert: readonly (readonly number[])[];
}

const TOLERANCE = 1e-5;
const FOLDER = path.join(FIXTURES, 'embeddings', 'bge-m3');
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Answer[] }>(
  'embeddings',
  'bge-m3',
  'golden.json',
);
const SENT = [0, 5, 7, 13, 27, 34] as const;

function expectNear(actual: ArrayLike<number>, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  const far = expected.map((value, i) => Math.abs((actual[i] as number) - value));
  expect(Math.max(0, ...far)).toBeLessThan(TOLERANCE);
}

function expectEntries(actual: Readonly<Record<string, number>>, { sparse }: Answer): void {
  const ids = Object.keys(sparse);
  expect(new Set(Object.keys(actual))).toEqual(new Set(ids));
  expectNear(
    ids.map((id) => actual[id] as number),
    Object.values(sparse),
  );
}

it('has the embeddings of FlagEmbedding, alone and in batches, for every choice of parts', async () => {
  const model = await TaskModel.load(embedding, FOLDER, SCHEDULING);
  const multi = model.withTask(multiEmbedding, model.metadata);
  try {
    const choices = [1, 2, 3, 4, 5, 6, 7].map((bits) => ({
      dense: (bits & 1) !== 0,
      sparse: (bits & 2) !== 0,
      colbert: (bits & 4) !== 0,
    }));
    const inputs = texts.flatMap((text) => choices.map((parts) => ({ text, parts })));
    const together = await multi.runAll(inputs, {});
    for (const [i, input] of inputs.entries()) {
      const answer = answers[Math.floor(i / choices.length)] as Answer;
      const alone = i % choices.length === 6 ? [await multi.run(input, {})] : [];
      for (const given of [together[i], ...alone]) {
        if (!given) throw new Error('no prediction');
        const { dense, sparse, colbert } = given;
        expect([dense !== null, sparse !== null, colbert !== null]).toEqual([
          input.parts.dense,
          input.parts.sparse,
          input.parts.colbert,
        ]);
        if (dense) expectNear(dense, answer.dense);
        if (sparse) {
          const entries = Array.from(sparse.ids, (id, k) => [String(id), sparse.values[k]]);
          expectEntries(Object.fromEntries(entries), answer);
        }
        expect(colbert?.length ?? answer.colbert.length).toBe(answer.colbert.length);
        for (const [row, vector] of (colbert ?? []).entries()) {
          expectNear(vector, answer.colbert[row] ?? []);
        }
      }
    }
  } finally {
    await model.close();
  }
});

describe('a server of bge-m3', () => {
  let service: Service;
  const sent = SENT.map((index) => texts[index] as string);
  const wanted = SENT.map((index) => answers[index] as Answer);

  beforeAll(async () => {
    service = await startService('serve', { args: [FOLDER] });
    await service.waitForLog(({ msg }) => msg === 'models loaded');
  });
  afterAll(killAll);

  it('returns all three embeddings from POST /encode', async () => {
    const { status, json } = await post(service, '/encode', {
      texts: sent,
      return_sparse: true,
      return_colbert_vecs: true,
    });
    expect(status).toBe(200);
    const { dense_vecs, lexical_weights, colbert_vecs } = json as {
      dense_vecs: number[][];
      lexical_weights: Record<string, number>[];
      colbert_vecs: number[][][];
    };
    for (const [i, answer] of wanted.entries()) {
      expectNear(dense_vecs[i] ?? [], answer.dense);
      expectEntries(lexical_weights[i] ?? {}, answer);
      for (const [row, vector] of answer.colbert.entries()) {
        expectNear(colbert_vecs[i]?.[row] ?? [], vector);
      }
    }
  });

  it('returns null for embeddings that were not asked for, and cuts to max_length', async () => {
    const body = { texts: sent, return_dense: false, return_colbert_vecs: true, max_length: 4 };
    const { status, json, headers } = await post(service, '/encode', body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ dense_vecs: null, lexical_weights: null });
    const { colbert_vecs } = json as { colbert_vecs: number[][][] };
    expect(colbert_vecs.map(({ length }) => length)).toEqual(sent.map(() => 3));
    expect(headers['x-input-truncated']).toBe('true');
  });

  it('null is the default of each field', async () => {
    const names = ['return_dense', 'return_sparse', 'return_colbert_vecs', 'max_length'];
    const body = { texts: sent, ...Object.fromEntries(names.map((name) => [name, null])) };
    const { json } = await post(service, '/encode', body);
    expect(json).toEqual((await post(service, '/encode', { texts: sent })).json);
  });

  it('has the routes of each embedding', async () => {
    const openai = await post(service, '/v1/embeddings', { model: 'bge-m3', input: sent });
    const { data } = openai.json as { data: { embedding: number[] }[] };
    const { json: sparse } = await post(service, '/embed_sparse', { inputs: sent });
    const { json: tokens } = await post(service, '/embed_all', { inputs: sent });
    for (const [i, answer] of wanted.entries()) {
      expectNear(data[i]?.embedding ?? [], answer.dense);
      const entries = (sparse as { index: number; value: number }[][])[i] ?? [];
      expectEntries(Object.fromEntries(entries.map(({ index, value }) => [index, value])), answer);
      for (const [row, vector] of answer.colbert.entries()) {
        expectNear((tokens as number[][][])[i]?.[row] ?? [], vector);
      }
    }
  });

  it('has the client and the embedded model', async () => {
    const client = new EmbedClient(`http://127.0.0.1:${service.port}/models/bge-m3`);
    const { lexical_weights, dense_vecs } = await client.encode(sent, { sparse: true });
    const embedder = await Embedder.load({ modelDirectory: FOLDER });
    const all = await embedder.encode(sent, { dense: true, sparse: true });
    await embedder.close();
    for (const [i, answer] of wanted.entries()) {
      expectEntries(lexical_weights?.[i] ?? {}, answer);
      expectNear(dense_vecs?.[i] ?? [], answer.dense);
      expectNear(all[i]?.dense ?? [], answer.dense);
      expect(all[i]?.sparse?.ids.length).toBe(Object.keys(answer.sparse).length);
    }
  });

  it('rejects wrong fields', async () => {
    for (const body of [{}, { texts: 'one' }, { texts: ['a'], max_length: 2 }]) {
      expect((await post(service, '/encode', body)).status).toBe(422);
    }
  });
});
