import { readdirSync } from 'node:fs';
import path from 'node:path';
import { modelConfig, readDirectory, weightsSource } from '../../src/models/hugging-face/directory';
import { findModelFiles } from '../../src/models/hugging-face/weight-files';
import { addon } from '../../src/native/addon';
import { type Dtype, Engine, type SentenceModule, type TextHead } from '../../src/native/engine';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to sentence-transformers and transformers, relative above 1. */
const TOLERANCE = 1e-5;

const ROOT = path.join(FIXTURES, 'embeddings');

/** Written by test/parity/embedding_golden.py. */
interface Golden {
  readonly head: TextHead;
  readonly prompt: string;
  readonly answers: readonly Answer[];
}

interface Answer {
  /** Number of the text in texts.json. */
  readonly text: number;
  readonly input_ids: readonly number[];
  /** Row by row. */
  readonly values: readonly number[];
  /** Of SPLADE. */
  readonly pooling?: 'max' | 'sum';
  readonly activation?: 'relu' | 'log1p_relu';
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');

function directoriesOf(kind: string): readonly string[] {
  return readdirSync(path.join(ROOT, kind)).map((name) => path.join(kind, name));
}

/** The head of golden.json, whose files are relative to the directory. */
function headOf(directory: string, head: TextHead): TextHead {
  if (head.name !== 'embedding') return head;
  const absolute = (module: SentenceModule): SentenceModule =>
    'weightFiles' in module
      ? { ...module, weightFiles: module.weightFiles.map((file) => path.join(directory, file)) }
      : module;
  return { ...head, modules: head.modules.map(absolute) };
}

async function load(directory: string, head: TextHead, dtype?: Dtype): Promise<Engine> {
  const { config } = readDirectory(directory, modelConfig);
  const found = findModelFiles(directory);
  if ('program' in found) throw new Error(`${directory}: expected weights`);
  const added = head.name === 'token-classification' ? { num_labels: 3 } : {};
  const { weightFiles } = found;
  const source = weightsSource(directory, config, { weightFiles, head, added });
  return await Engine.load(source, { ...SCHEDULING, ...(dtype && { dtype }) });
}

function furthest(actual: ArrayLike<number>, expected: readonly number[]): number {
  expect(actual).toHaveLength(expected.length);
  return expected.reduce((worst, value, i) => {
    const difference = Math.abs((actual[i] as number) - value);
    return Math.max(worst, difference / Math.max(1, Math.abs(value))); // NaN stays NaN
  }, 0);
}

/** How near an answer is to float32's, at least; these tiny models are coarser than any that is trained. */
const LEAST_COSINE: readonly (readonly [Dtype, number])[] = [
  ['bfloat16', 0.999],
  ['int8', 0.95],
  ['int8-vnni', 0.98],
];

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** Alone, then all together, which gives batches of several lengths. */
async function expectAnswers(engine: Engine, { prompt }: Golden, answers: readonly Answer[]) {
  const problems: string[] = [];
  const check = async ({ text, input_ids, values }: Answer) => {
    const whole = prompt + texts[text];
    const inference = await engine.infer({ text: whole, prompt });
    const far = furthest(inference.values, values);
    const rows = values.length / engine.description.numOutputs;
    if (inference.tokens !== input_ids.length || inference.rows !== rows || !(far <= TOLERANCE)) {
      problems.push(
        `text ${text}: ${inference.tokens} tokens, ${inference.rows} rows, off by ${far}`,
      );
    }
  };
  for (const answer of answers) await check(answer);
  await Promise.all([...answers, ...answers].map(check));
  expect(problems).toEqual([]);
}

describe.each(['encoders', 'sentences', 'tokens'].flatMap(directoriesOf))('%s', (name) => {
  const directory = path.join(ROOT, name);
  const golden = readFixture<Golden>('embeddings', name, 'golden.json');

  it('has the numbers of the Python library, alone and in batches', async () => {
    const engine = await load(directory, headOf(directory, golden.head));
    try {
      await expectAnswers(engine, golden, golden.answers);
    } finally {
      await engine.close();
    }
  });
});

describe.each(directoriesOf('splade'))('%s', (name) => {
  const directory = path.join(ROOT, name);
  const golden = readFixture<Golden>('embeddings', name, 'golden.json');
  const variants = new Set(
    golden.answers.map(({ pooling, activation }) => `${pooling} ${activation}`),
  );

  it.each([...variants])(
    'has the weights of SparseEncoder, alone and in batches: %s',
    async (variant) => {
      const [pooling, activation] = variant.split(' ') as ['max' | 'sum', 'relu' | 'log1p_relu'];
      const engine = await load(directory, { name: 'masked-lm', pooling, activation });
      try {
        const answers = golden.answers.filter(
          (answer) => answer.pooling === pooling && answer.activation === activation,
        );
        await expectAnswers(engine, golden, answers);
      } finally {
        await engine.close();
      }
    },
  );
});

describe.each(LEAST_COSINE)('DTYPE=%s', (dtype, least) => {
  const names = ['encoders', 'tokens', 'splade'].flatMap(directoriesOf);

  it.each(names)('is near the numbers of the Python library: %s', async (name) => {
    if (addon().dtypeProblem(dtype) !== '') return; // test/golden/dtype.test.ts has what it says
    const directory = path.join(ROOT, name);
    const { head, answers } = readFixture<Golden>('embeddings', name, 'golden.json');
    const [{ pooling, activation } = {}] = answers;
    const asked = head.name === 'masked-lm' && pooling && activation;
    const engine = await load(directory, asked ? { ...head, pooling, activation } : head, dtype);
    const own = answers.filter((answer) => answer.pooling === pooling);
    const all = await Promise.all(own.map(({ text }) => engine.infer(texts[text] as string)));
    await engine.close();
    const cosines = all.map(({ values }, i) => cosine(values, own[i]?.values ?? []));
    expect(Math.min(...cosines)).toBeGreaterThan(least);
  });
});
