import { readdirSync } from 'node:fs';
import path from 'node:path';
import { reranking } from '../../src/tasks/registry';
import { toPair } from '../../src/tasks/reranking/cross-encoder';
import { TaskModel } from '../../src/tasks/task-model';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to the library of the model, relative to scores above 1. */
const TOLERANCE = 1e-5;

interface Golden {
  readonly answers: readonly {
    readonly query: string;
    readonly documents: readonly string[];
    readonly scores: readonly number[];
  }[];
}

const ROOT = 'decoder-rerankers';

describe.each(readdirSync(path.join(FIXTURES, ROOT)))('%s', (name) => {
  const { answers } = readFixture<Golden>(ROOT, name, 'golden.json');
  let model: Awaited<ReturnType<typeof load>>;
  const load = () => TaskModel.load(reranking, path.join(FIXTURES, ROOT, name), SCHEDULING);

  beforeAll(async () => {
    model = await load();
  });

  afterAll(() => model.close());

  it.each(answers.map((one) => [one.query, one] as const))(
    'scores as its library does: %s',
    async (_, { query, documents, scores }) => {
      const pairs = documents.map((document) => toPair(query, document));
      // Documents of one list share the computation of their prompt and query.
      const together = await model.runAll(pairs, {});
      const alone = await Promise.all(pairs.map((pair) => model.run(pair, {})));
      for (const [index, expected] of scores.entries()) {
        const tolerance = TOLERANCE * Math.max(1, Math.abs(expected));
        for (const way of [together, alone]) {
          const actual = way[index]?.scores[0] as number;
          expect(Math.abs(actual - expected)).toBeLessThanOrEqual(tolerance);
        }
      }
    },
  );

  it('has bitwise identical scores alone and in batches', async () => {
    const pairs = Array.from({ length: 40 }, (_, i) =>
      toPair(`Good ${i}`, 'A warm, funny film. '.repeat((i % 3) + 1)),
    );
    const together = (await model.runAll(pairs, {})).map(({ scores }) => scores);
    for (const [index, pair] of pairs.entries()) {
      expect((await model.run(pair, {})).scores).toEqual(together[index]);
    }
  });
});
