import path from 'node:path';
import { combineWindowScores } from '../../src/tasks/classification';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to transformers that a score may have. */
const TOLERANCE = 1e-5;

interface Case {
  readonly model: string;
  readonly text: string;
  readonly stride: number;
  readonly windows: readonly {
    readonly start: number;
    readonly end: number;
    readonly scores: readonly number[];
  }[];
}

const { cases } = readFixture<{ readonly cases: readonly Case[] }>('windows.json');
const names = [...new Set(cases.map(({ model }) => model))];

it.each(names)('%s has the windows of transformers', async (name) => {
  const rows = cases.filter(({ model }) => model === name);
  const directory = path.join(FIXTURES, 'models', name);
  const model = await TaskModel.load(textClassification, directory, SCHEDULING);
  const inputs = rows.map(({ text, stride }) => ({ text, places: true, stride }));
  const answers = await model.runAll(inputs, {});
  for (const [row, { windows: expected }] of rows.entries()) {
    const windows = answers[row]?.windows ?? [];
    expect(windows.map(({ start, end }) => [start, end])).toEqual(
      expected.map(({ start, end }) => [start, end]),
    );
    const all = windows.flatMap(({ scores }) => [...scores]);
    const wanted = expected.flatMap(({ scores }) => scores);
    for (const [index, score] of wanted.entries()) {
      expect(Math.abs((all[index] as number) - score)).toBeLessThanOrEqual(TOLERANCE);
    }
    for (const label of (expected[0]?.scores ?? []).keys()) {
      const of = expected.map(({ scores }) => scores[label] as number);
      const mean = of.reduce((sum, score) => sum + score) / of.length;
      expect(answers[row]?.scores[label]).toBeCloseTo(mean, 5);
      expect(combineWindowScores(windows, 'max')[label]).toBeCloseTo(Math.max(...of), 5);
    }
  }
  await model.close();
});
