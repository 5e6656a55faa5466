import { readdirSync } from 'node:fs';
import path from 'node:path';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { TaskModel } from '../../src/tasks/task-model';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, startService } from '../helpers/service';

/** Written by test/parity/static_golden.py. */
interface Golden {
  readonly long: string;
  readonly answers: readonly { readonly values: readonly number[] }[];
}

const ROOT = path.join(FIXTURES, 'embeddings', 'static');
const TOLERANCE = 1e-5;
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');

afterAll(killAll);

function furthest(actual: ArrayLike<number>, expected: readonly number[]): number {
  expect(actual).toHaveLength(expected.length);
  return Math.max(...expected.map((value, i) => Math.abs((actual[i] as number) - value)));
}

describe.each(readdirSync(ROOT))('%s', (name) => {
  const { long, answers } = readFixture<Golden>('embeddings', 'static', name, 'golden.json');
  const all = [...texts, long];

  it('has the vectors of the Python library, alone and in batches', async () => {
    const model = await TaskModel.load(embedding, path.join(ROOT, name), SCHEDULING);
    try {
      const alone = [];
      for (const text of all) alone.push(...(await model.runAll([{ text }], {})));
      const together = await model.runAll(
        all.map((text) => ({ text })),
        {},
      );
      for (const predictions of [alone, together]) {
        const far = predictions.map(({ vector }, i) => furthest(vector, answers[i]?.values ?? []));
        expect(Math.max(...far)).toBeLessThan(TOLERANCE);
      }
    } finally {
      await model.close();
    }
  });
});

it('serves POST /v1/embeddings: a text without known tokens is the vector 0', async () => {
  const service = await startService('serve', { args: [path.join(ROOT, 'model2vec-int8')] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  const { status, json } = await post(service, '/v1/embeddings', {
    model: 'model2vec-int8',
    input: ['A quiet marvel.', '\u{1f9ff}', 'A quiet marvel.'],
  });
  expect(status).toBe(200);
  const { data } = json as { data: readonly { embedding: readonly number[] }[] };
  const [first, empty, second] = data.map(({ embedding: vector }) => vector);
  expect(first).toEqual(second);
  expect(new Set(empty)).toEqual(new Set([0]));
});
