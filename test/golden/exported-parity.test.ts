import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { softmax } from '../../src/lib/numbers';
import type { Classification } from '../../src/tasks/capabilities';
import { signalClassification } from '../../src/tasks/signal-classification/signal-classification-task';
import { TaskModel } from '../../src/tasks/task-model';
import { type GoldenEeg, type GoldenWindows, readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to torch that a probability may have. */
const TOLERANCE = 1e-5;
const EXPORTED = path.join(FIXTURES, 'exported');

type Answers = GoldenEeg['models'][number]['answers'];

const { windows } = readFixture<GoldenWindows>('eeg', 'windows.json');
const signals = windows.map(({ signal }) => signal);

/** Fails with what is too far off, the first of it: each alone, one after the other, then all at once. */
async function expectAnswers(
  file: string,
  asked: readonly (readonly number[])[],
  answers: Answers,
): Promise<{ readonly batching: boolean; readonly largestBatch: number }> {
  const classifier = await TaskModel.load(signalClassification, file, SCHEDULING);
  const problems: string[] = [];
  let largestBatch = 0;
  const check = ({ inference }: Classification, index: number): void => {
    const { probabilities } = answers[index] as Answers[number];
    largestBatch = Math.max(largestBatch, inference.batchSize);
    const actual = softmax(inference.values);
    const off = probabilities.map((value, i) => Math.abs((actual[i] as number) - value));
    if (actual.length !== probabilities.length || !(Math.max(...off) <= TOLERANCE)) {
      problems.push(`window ${index}: ${actual}, expected ${probabilities}`);
    }
  };
  const inOrder = asked.slice(0, answers.length);
  for (const [index, window] of inOrder.entries()) check(await classifier.run(window, {}), index);
  // A list is admitted as a whole: whoever takes of it finds company.
  (await classifier.runAll(inOrder, {})).forEach(check);
  const { batching } = classifier.monitor.description;
  await classifier.close();
  expect(problems.slice(0, 5)).toEqual([]);
  return { batching, largestBatch };
}

describe('signal models of torch.export', () => {
  const { models } = readFixture<GoldenEeg>('exported', 'signals', 'golden.json');
  const alone = ['conditional-on-data', 'one-at-a-time', 'batch-dependent'];

  it('are all there', () => {
    expect(models.length).toBeGreaterThan(20);
  });

  it.each(models.map(({ file, answers }) => [file, answers] as const))(
    '%s has the probabilities of torch, alone and in company',
    async (file, answers) => {
      const ran = await expectAnswers(path.join(EXPORTED, 'signals', file), signals, answers);
      const shared = !alone.includes(path.basename(file, '.pt2'));
      expect(ran.batching).toBe(shared);
      expect(ran.largestBatch > 1).toBe(shared);
    },
  );

  it('windows of another rank are taken as the file says', async () => {
    const golden = readFixture<{
      readonly windows: readonly (Answers[number] & { readonly signal: readonly number[] })[];
    }>('exported', 'signals', 'mobile-image-golden.json');
    const folder = mkdtempSync(path.join(os.tmpdir(), 'exported-'));
    try {
      const file = path.join(folder, 'image.pt2');
      copyFileSync(path.join(EXPORTED, 'signals', 'mobile-image.pt2'), file);
      writeFileSync(path.join(folder, 'image.json'), '{"window_length": 768}');
      const asked = golden.windows.map(({ signal }) => signal);
      const ran = await expectAnswers(file, asked, golden.windows);
      expect(ran.batching).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('versions of torch.export', () => {
  const folder = path.join(EXPORTED, 'versions');
  const files = readdirSync(folder).filter((name) => name.endsWith('.pt2'));

  it('are those from 2.6 to 2.15', () => {
    const minors = new Set(files.map((name) => Number(name.split('.')[1])));
    expect([...minors].sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  it.each(files)('%s has the probabilities of that version, alone and in company', async (name) => {
    const version = name.slice(0, name.indexOf('-'));
    const { answers } = readFixture<{ readonly answers: Answers }>(
      'exported',
      'versions',
      `${version}.json`,
    );
    const ran = await expectAnswers(path.join(folder, name), signals, answers);
    expect(ran.batching).toBe(true);
    expect(ran.largestBatch).toBeGreaterThan(1);
  });
});
