import { ZeroShot } from '../../src/embedded/zero-shot-classifier';
import { sigmoid, softmax } from '../../src/lib/numbers';
import type { DecisionModel, Question } from '../../src/tasks/decision/questions';
import type { ClassInput } from '../../src/tasks/gliner2/class-sequence';
import { createGliner2DecisionModel } from '../../src/tasks/gliner2/gliner2-decision-model';
import { gliner2, gliner2Classification } from '../../src/tasks/gliner2/gliner2-task';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { createZeroShotClassifier } from '../../src/tasks/zero-shot-models';
import {
  expectClose,
  GLINER2_MODELS,
  type GoldenGliner2,
  gliner2Folder,
  isSpanModel,
  type Labels,
  readGliner2Golden,
} from '../helpers/gliner2';
import { SCHEDULING } from '../helpers/scheduling';

function classesOf(labels: Labels): ClassInput['classes'] {
  return Array.isArray(labels)
    ? labels.map((name) => ({ name, description: null }))
    : Object.entries(labels).map(([name, description]) => ({ name, description }));
}

describe.each(GLINER2_MODELS)('classes of %s', (name) => {
  const golden = readGliner2Golden(name);
  const task = (
    isSpanModel(name) ? gliner2 : gliner2Classification
  ) as typeof gliner2Classification;
  const load = () => TaskModel.load(task, gliner2Folder(name), SCHEDULING);
  let model: Awaited<ReturnType<typeof load>>;
  let decisions: DecisionModel;

  beforeAll(async () => {
    model = await load();
    const loaded = model as unknown as TaskModel;
    decisions = createGliner2DecisionModel(task as unknown as Task, loaded) as DecisionModel;
  });

  afterAll(() => model.close());

  const inputOf = ({
    text,
    task,
    labels,
    prompt,
  }: GoldenGliner2['classes'][number]): ClassInput => ({
    text: golden.texts[text] as string,
    truncationSide: 'right',
    task,
    instructions: prompt,
    classes: classesOf(labels),
  });

  it('has the probabilities of gliner2, alone and in batches', async () => {
    expect(golden.classes).toHaveLength(80);
    const together = await model.runAll(golden.classes.map(inputOf), {});
    for (const [index, row] of golden.classes.entries()) {
      const logits = together[index]?.logits as Float32Array;
      expectClose(softmax(logits), row.softmax);
      expectClose(sigmoid(logits), row.sigmoid);
      expect(together[index]?.inference.truncated).toBe(false);
    }
    for (const index of [0, 11, 22, 33, 44, 55, 66, 77]) {
      const row = golden.classes[index] as GoldenGliner2['classes'][number];
      const alone = await model.run(inputOf(row), {});
      expect([...alone.logits]).toEqual([...(together[index]?.logits ?? [])]);
    }
  });

  const rowsOf = (task: string) => golden.classes.filter((row) => row.task === task);

  it('answers questions with the probabilities of gliner2', async () => {
    const questions: readonly Question[] = [
      {
        type: 'predicate',
        instructions: 'Does the text mention travel?',
        criteria: { false: 'nothing of the kind', true: 'A trip is planned.' },
      },
      {
        type: 'choice',
        instructions: 'Which?',
        options: [
          { label: 'refund', description: 'money back' },
          { label: 'exchange', description: 'another item' },
        ],
      },
      { type: 'score', instructions: null, levels: ['low', null, 'high'] },
    ];
    const rows = rowsOf('decision');
    expect(rows).toHaveLength(3 * golden.texts.length);
    for (const [text, state] of golden.texts.entries()) {
      const request = { state, truncationSide: 'right', questions } as const;
      const { answers, inferences } = await decisions.decide(request, {});
      expect(inferences).toHaveLength(3);
      const expected = rows.filter((row) => row.text === text);
      for (const [index, { probabilities }] of answers.entries()) {
        expectClose(probabilities, expected[index]?.softmax ?? []);
      }
    }
  });

  it('classifies by the labels of a request', async () => {
    const classifier = createZeroShotClassifier(
      task as unknown as Task,
      model as unknown as TaskModel,
    );
    const rows = rowsOf('classification');
    expect(rows).toHaveLength(golden.texts.length);
    const labels = rows[0]?.labels as readonly string[];
    for (const [isMultiLabel, scores] of [
      [false, 'softmax'],
      [true, 'sigmoid'],
    ] as const) {
      const request = { texts: golden.texts, labels, template: null, isMultiLabel };
      const result = await classifier?.classifyLabels(request, {});
      expect(result?.answers).toHaveLength(golden.texts.length);
      for (const [index, answer] of (result?.answers ?? []).entries()) {
        const byLabel = labels.map((label) => answer.find((one) => one.label === label)?.score);
        expectClose(byLabel as number[], rows[index]?.[scores] ?? []);
      }
    }
  });

  it('has the same scores in the process', async () => {
    const engine = await ZeroShot.load({ modelDirectory: gliner2Folder(name) });
    const row = rowsOf('classification')[2];
    const labels = row?.labels as readonly string[];
    for (const [multiLabel, scores] of [
      [false, 'softmax'],
      [true, 'sigmoid'],
    ] as const) {
      const found = await engine.classify(golden.texts[2] as string, labels, { multiLabel });
      const byLabel = labels.map((label) => found.find((one) => one.label === label)?.score);
      expectClose(byLabel as number[], row?.[scores] ?? []);
    }
    await engine.close();
  });

  it('truncates a long text at the requested end', async () => {
    const input = inputOf(golden.classes[11] as GoldenGliner2['classes'][number]);
    const text = `first ${'word '.repeat(3000)}last.`;
    const sides = ['left', 'right'] as const;
    const [left, right] = await model.runAll(
      sides.map((truncationSide) => ({ ...input, text, truncationSide })),
      {},
    );
    expect(left?.inference.truncated && right?.inference.truncated).toBe(true);
    expect(left?.inference.tokens).toBe(model.maxLength);
    expect([...(left?.logits ?? [])]).not.toEqual([...(right?.logits ?? [])]);
  });

  it('keeps classes apart from markers in texts, classes and instructions', async () => {
    const marked = ['[L]', '[L] [L]', '[P]', ') )', '', '[SEP_TEXT]', 'x'];
    const classes = marked.map((name) => ({ name, description: '[L] [DESCRIPTION]' }));
    const text = 'One [L] two [SEP_TEXT] three [P]. \ud800 \0';
    const input = {
      text,
      truncationSide: 'right',
      task: 'a',
      instructions: '[L] (',
      classes,
    } as const;
    const { logits } = await model.run(input, {});
    expect(logits).toHaveLength(marked.length);
    const many = Array.from({ length: 255 }, (_, i) => `class number ${i} with several words`);
    const long = many.map((each) => ({ name: each, description: null }));
    await expect(model.run({ ...input, classes: long }, {})).rejects.toThrow(
      /^The labels and the instructions have \d+ tokens, which leave none for the text/,
    );
  });
});
