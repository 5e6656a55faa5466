import path from 'node:path';
import { Engine, type NativeInput, type TokenInput } from '../../src/native/engine';
import { gliclass } from '../../src/tasks/decision/gliclass-task';
import { laya } from '../../src/tasks/decision/laya-task';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const load = (task: Pick<typeof textClassification, 'read'>, folder: string) =>
  Engine.load(task.read(path.join(FIXTURES, folder)).source, SCHEDULING);

function tokens(markers: readonly number[], questionType?: number): TokenInput {
  return {
    ids: Uint32Array.of(5, 6, 7, 8, 9),
    types: new Uint32Array(5),
    markers: Uint32Array.from(markers),
    ...(questionType !== undefined && { questionType }),
  };
}

describe.each([
  ['laya', laya as unknown as typeof textClassification, 'laya/english', 3],
  ['gliclass', gliclass as unknown as typeof textClassification, 'gliclass/bert-mlp', 1],
] as const)('%s', (_, task, folder, questionTypes) => {
  let engine: Engine;

  beforeAll(async () => {
    engine = await load(task, folder);
  });

  afterAll(() => engine.close());

  it.each([
    ['a text', 'A text.', 'markers: the model answers questions, expected at least one'],
    ['no markers', tokens([]), 'markers: the model answers questions, expected at least one'],
    [
      'a position beyond the end',
      tokens([1, 5]),
      'markers[1]: expected ascending positions below 5, received 5',
    ],
    [
      'a huge position',
      tokens([2 ** 32 - 1]),
      `markers[0]: expected ascending positions below 5, received ${2 ** 32 - 1}`,
    ],
    [
      'a descending position',
      tokens([2, 1]),
      'markers[1]: expected ascending positions below 5, received 1',
    ],
    [
      'a repeated position',
      tokens([2, 2]),
      'markers[1]: expected ascending positions below 5, received 2',
    ],
    [
      'options that end at a marker',
      { ...tokens([1, 3]), optionsEnd: 3 },
      'optionsEnd: expected a position after the last marker, up to 5, received 3',
    ],
    [
      'options that end beyond the end',
      { ...tokens([1, 3]), optionsEnd: 6 },
      'optionsEnd: expected a position after the last marker, up to 5, received 6',
    ],
    [
      'an unknown type',
      tokens([0], questionTypes),
      `questionType: expected less than ${questionTypes}, received ${questionTypes}`,
    ],
  ] as readonly (readonly [string, NativeInput, string])[])(
    'rejects %s',
    async (_name, input, message) => {
      const answer = engine.infer(input);
      await expect(answer).rejects.toMatchObject({ code: 'INFERENCE_FAILED', message });
    },
  );

  it('has the same rows alone and beside other inputs, with and without a cache', async () => {
    const inputs = [tokens([0, 2, 4]), tokens([0, 4]), tokens([1, 2, 3, 4]), tokens([0, 2, 4])];
    const together = await engine.inferAll(inputs);
    for (const [index, input] of inputs.entries()) {
      expect((await engine.infer(input)).values).toEqual(together[index]?.values);
    }
    const cached = await Engine.load(task.read(path.join(FIXTURES, folder)).source, {
      ...SCHEDULING,
      resultCacheMb: 1,
    });
    for (const [index, input] of inputs.entries()) {
      expect((await cached.infer(input)).values).toEqual(together[index]?.values);
    }
    await cached.close();
  });
});

it('rejects markers for a model that reads none', async () => {
  const engine = await load(textClassification, 'models/bert-single-label');
  await expect(engine.infer(tokens([0]))).rejects.toThrow('markers: the model reads no markers');
  await engine.close();
});
