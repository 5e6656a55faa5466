import path from 'node:path';
import { type Dtype, dtypeProblem } from '../../src/native/engine';
import { TextClassifier } from '../../src/sentiment/text-classifier';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import {
  FIXTURES,
  killAll,
  MAIN,
  NodeProcess,
  ROOT,
  startService,
  textModel,
} from '../helpers/service';

afterAll(killAll);

async function answersIn(dtype: Dtype): Promise<readonly { label: string; score: number }[]> {
  const { texts: all } = readFixture<GoldenTexts>('shipped-sentiment.json');
  const texts = all.slice(0, 60); // bfloat16 takes long where it would be refused
  const directory = path.join(ROOT, 'models', 'sentiment');
  const classifier = await TextClassifier.load(directory, { ...SCHEDULING, dtype });
  const answers = await Promise.all(texts.map(({ text }) => classifier.classify(text, {})));
  await classifier.close();
  return answers;
}

/** Probabilities of one label, of which there are two. */
function furthest(
  some: readonly { label: string; score: number }[],
  others: readonly { label: string; score: number }[],
): number {
  const differences = some.map(({ label, score }, i) => {
    const other = others[i] as { label: string; score: number };
    return Math.abs(score - (label === other.label ? other.score : 1 - other.score));
  });
  return Math.max(...differences);
}

describe.each(['bfloat16', 'int8'] as const)('DTYPE=%s', (dtype) => {
  it('serves where it is faster than float32, else ends with one line that says why', async () => {
    const problem = dtypeProblem(dtype);
    if (problem === '') {
      const service = await startService('sentiment', { env: { DTYPE: dtype } });
      const { status } = await post(service, '/analyze', { text: 'A good film.' });
      expect(status).toBe(200);
      await service.stop();
      return;
    }
    const env = { ...textModel('bert-single-label'), PORT: '0', DTYPE: dtype };
    const started = new NodeProcess({ script: MAIN, args: ['sentiment'], env });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.stderr).toMatch(
      new RegExp(`^libtorch-serve: DTYPE: ${dtype} is of no use here: .+; leave it unset\n$`),
    );
  });

  it('answers nearly as float32, but not in the same numbers', async () => {
    const [reference, answers] = [await answersIn('float32'), await answersIn(dtype)];
    const difference = furthest(answers, reference);
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(0.15);
    const alike = answers.filter(({ label }, i) => label === reference[i]?.label);
    expect(alike.length / answers.length).toBeGreaterThanOrEqual(0.95);
  });
});

it('a TorchScript text model computes as it was saved', async () => {
  const directory = path.join(FIXTURES, 'models', 'torchscript-traced-bert');
  await expect(TextClassifier.load(directory, { ...SCHEDULING, dtype: 'int8' })).rejects.toThrow(
    /^model\.pt: .+: DTYPE must be float32$/,
  );
});
