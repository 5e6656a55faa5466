import { readdirSync } from 'node:fs';
import path from 'node:path';
import { codePointCounter } from '../../src/lib/code-points';
import { sigmoid, softmax } from '../../src/lib/numbers';
import { gliner2ArchitectureOf } from '../../src/models/gliner2/directory';
import type { DecisionModel, Question } from '../../src/tasks/decision/questions';
import type { EntityLabel, EntityOptions } from '../../src/tasks/entity-recognition/entities';
import { findEntities } from '../../src/tasks/entity-recognition/find-entities';
import { toLabels } from '../../src/tasks/entity-recognition/labels';
import { overlapsOf } from '../../src/tasks/entity-recognition/overlaps';
import type { ClassInput } from '../../src/tasks/gliner2/class-sequence';
import { createGliner2DecisionModel } from '../../src/tasks/gliner2/gliner2-decision-model';
import { gliner2, gliner2Classification } from '../../src/tasks/gliner2/gliner2-task';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { createZeroShotClassifier } from '../../src/tasks/zero-shot-models';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const ROOT = 'gliner2';

/** Names, or names with descriptions. */
type Labels = readonly string[] | Readonly<Record<string, string>>;

interface Golden {
  readonly texts: readonly string[];
  readonly entities: readonly {
    readonly text: number;
    readonly labels: Labels;
    readonly threshold: number;
    /** Start and end in code points, score, by label. */
    readonly entities: Readonly<Record<string, readonly (readonly [number, number, number])[]>>;
  }[];
  readonly classes: readonly {
    readonly text: number;
    readonly task: string;
    readonly labels: Labels;
    readonly prompt: string | null;
    readonly softmax: readonly number[];
    readonly sigmoid: readonly number[];
  }[];
}

const entityLabelsOf = (labels: Labels): readonly EntityLabel[] =>
  Array.isArray(labels)
    ? toLabels(labels)
    : Object.entries(labels).map(([name, description]) => ({
        name,
        prompt: description,
        description,
      }));

const classesOf = (labels: Labels): ClassInput['classes'] =>
  Array.isArray(labels)
    ? labels.map((name) => ({ name, description: null }))
    : Object.entries(labels).map(([name, description]) => ({ name, description }));

function expectClose(found: ArrayLike<number> | undefined, expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs((found?.[index] as number) - value)).toBeLessThanOrEqual(TOLERANCE);
  }
}

const names = readdirSync(path.join(FIXTURES, ROOT));
const folderOf = (name: string) => path.join(FIXTURES, ROOT, name);
const isSpan = (name: string) => gliner2ArchitectureOf(folderOf(name)) === 'span';

describe.each(names.filter(isSpan))('entities of %s', (name) => {
  const golden = readFixture<Golden>(ROOT, name, 'golden.json');
  const load = () => TaskModel.load(gliner2, folderOf(name), SCHEDULING);
  let loaded: Awaited<ReturnType<typeof load>>;
  let model: Parameters<typeof findEntities>[0];

  beforeAll(async () => {
    loaded = await load();
    model = loaded as unknown as typeof model;
  });

  afterAll(() => loaded.close());

  const optionsOf = (labels: Labels, threshold: number): EntityOptions => ({
    labels: entityLabelsOf(labels),
    threshold,
    ...overlapsOf(null, loaded.metadata),
    isMultiLabel: false,
  });

  it('finds the entities of gliner2, alone and in batches', async () => {
    expect(golden.entities).toHaveLength(72);
    const texts = golden.texts.slice(0, 9);
    for (let first = 0; first < golden.entities.length; first += texts.length) {
      const group = golden.entities.slice(first, first + texts.length);
      const [{ labels, threshold }] = group as [Golden['entities'][number]];
      const options = optionsOf(labels, threshold);
      const together = await findEntities(model, texts, options, {});
      for (const { text: index, entities } of group) {
        const text = texts[index] as string;
        const alone = await findEntities(model, [text], options, {});
        expect(alone.entities[0]).toEqual(together.entities[index]);
        const length = [...text].length;
        const toCodePoint = codePointCounter(text);
        const found = (together.entities[index] ?? []).map(({ start, end, label, score }) => ({
          start: toCodePoint(start),
          end: toCodePoint(end),
          label,
          score,
        }));
        for (const label of Object.keys(entities)) {
          // The period that gliner2 adds to a text is not in the text.
          const expected = (entities[label] ?? []).toSorted(([a], [b]) => a - b);
          const own = found.filter((entity) => entity.label === label);
          expect(own.map(({ start, end }) => [start, end])).toEqual(
            expected.map(([start, end]) => [start, Math.min(end, length)]),
          );
          expectClose(
            own.map(({ score }) => score),
            expected.map(([, , score]) => score),
          );
        }
        const count = Object.values(entities).reduce((sum, own) => sum + own.length, 0);
        expect(found).toHaveLength(count);
      }
    }
  });

  it('resolves overlaps of all labels if a request asks for it', async () => {
    const texts = golden.texts.slice(0, 9);
    const options = { ...optionsOf(['person', 'city', 'film'], 0.3), ...overlapsOf(true, loaded.metadata) };
    const { entities } = await findEntities(model, texts, options, {});
    expect(entities.flat().length).toBeGreaterThan(5);
    for (const own of entities) {
      for (const [index, { start }] of own.entries()) {
        expect(start).toBeGreaterThanOrEqual(own[index - 1]?.end ?? 0);
      }
    }
  });

  it('reads a long text in windows', async () => {
    const sentence = `${golden.texts[0]} `;
    const long = sentence.repeat(300).trim();
    const options = optionsOf(['person', 'city', 'film'], 0.2);
    const { entities, inferences } = await findEntities(model, [long], options, {});
    expect(inferences.length).toBeGreaterThan(2);
    for (const { tokens } of inferences.slice(1)) expect(tokens).toBeGreaterThan(100);
    const found = entities[0] ?? [];
    for (const { start, end } of found) expect(long.slice(start, end).trim()).not.toBe('');
    expect(found.every(({ end }) => end <= long.length)).toBe(true);
  });

  it('finds nothing in a text without words', async () => {
    const options = { ...optionsOf(['a'], 0), ...overlapsOf(false, loaded.metadata) };
    const { entities } = await findEntities(model, ['', ' \n\u00a0', '\u001c'], options, {});
    expect(entities).toEqual([[], [], []]);
  });

  it('keeps offsets within texts that get a period', async () => {
    const options = { ...optionsOf(['a', 'b'], 0), ...overlapsOf(false, loaded.metadata) };
    const texts = ['One', 'One two ', 'see www.example.org/a', '\ud83d\ude80'];
    const { entities } = await findEntities(model, texts, options, {});
    for (const [index, text] of texts.entries()) {
      for (const { start, end } of entities[index] ?? []) {
        expect(start).toBeLessThan(end);
        expect(end).toBeLessThanOrEqual(text.length);
      }
    }
  });

  it('keeps labels apart from markers in texts and labels', async () => {
    const labels = toLabels(['[E]', '[P] (', '[SEP_TEXT]', ') )', ' ', 'city']);
    const text = 'One [E] two [SEP_TEXT] ( [P] [L] three.';
    const { candidates } = (await loaded.run({ text, labels, threshold: 0 }, {})) as {
      candidates: readonly { readonly label: number; readonly last: number }[];
    };
    // gliner2 may predict that there are no entities.
    for (const { label } of candidates) expect(label).toBeLessThan(6);
    const [alone] = await loaded.runAll([{ text, labels: toLabels(['city']), threshold: 0 }], {});
    expect(alone?.inference.truncated).toBe(false);
  });

  it('rejects labels that leave no token for the text', async () => {
    const labels = toLabels(Array.from({ length: 256 }, (_, i) => `label number ${i}, with words`));
    const answer = loaded.run({ text: 'A text.', labels, threshold: 0.5 }, {});
    await expect(answer).rejects.toMatchObject({ code: 'INPUT_TOO_LONG' });
    await expect(answer).rejects.toThrow(/^The labels have \d+ tokens, the model takes \d+/);
  });
});

describe.each(names)('classes of %s', (name) => {
  const golden = readFixture<Golden>(ROOT, name, 'golden.json');
  const task = (isSpan(name) ? gliner2 : gliner2Classification) as typeof gliner2Classification;
  const load = () => TaskModel.load(task, folderOf(name), SCHEDULING);
  let model: Awaited<ReturnType<typeof load>>;
  let decisions: DecisionModel;

  beforeAll(async () => {
    model = await load();
    const loaded = model as unknown as TaskModel;
    decisions = createGliner2DecisionModel(task as unknown as Task, loaded) as DecisionModel;
  });

  afterAll(() => model.close());

  const inputOf = ({ text, task, labels, prompt }: Golden['classes'][number]): ClassInput => ({
    text: golden.texts[text] as string,
    truncationSide: 'right',
    task,
    instructions: prompt,
    classes: classesOf(labels),
  });

  it('has the probabilities of gliner2, alone and in batches', async () => {
    expect(golden.classes).toHaveLength(50);
    const together = await model.runAll(golden.classes.map(inputOf), {});
    for (const [index, row] of golden.classes.entries()) {
      const logits = together[index]?.logits as Float32Array;
      expectClose(softmax(logits), row.softmax);
      expectClose(sigmoid(logits), row.sigmoid);
      expect(together[index]?.inference.truncated).toBe(false);
    }
    for (const index of [0, 11, 22, 33, 44]) {
      const row = golden.classes[index] as Golden['classes'][number];
      const alone = await model.run(inputOf(row), {});
      expect([...alone.logits]).toEqual([...(together[index]?.logits ?? [])]);
    }
  });

  it('answers questions with the probabilities of a classification', async () => {
    const state = golden.texts[2] as string;
    const questions: readonly Question[] = [
      { type: 'choice', instructions: 'Which?', options: [
        { label: 'a', description: null }, { label: 'b', description: 'the second' },
      ] },
      { type: 'score', instructions: null, levels: ['low', null, 'high'] },
      { type: 'predicate', instructions: 'It is late.', criteria: { true: 'after nine', false: null } },
    ];
    const { answers, inferences } = await decisions.decide(
      { state, truncationSide: 'right', questions },
      {},
    );
    expect(inferences).toHaveLength(3);
    const inputs: readonly Pick<ClassInput, 'instructions' | 'classes'>[] = [
      { instructions: 'Which?', classes: [
        { name: 'a', description: null }, { name: 'b', description: 'the second' },
      ] },
      { instructions: null, classes: ['low', '1', 'high'].map((name) => ({ name, description: null })) },
      { instructions: 'It is late.', classes: [
        { name: 'no', description: null }, { name: 'yes', description: 'after nine' },
      ] },
    ];
    const rows = inputs.map((input) => ({
      ...input, text: state, truncationSide: 'right' as const, task: 'decision',
    }));
    const expected = await model.runAll(rows, {});
    for (const [index, { probabilities }] of answers.entries()) {
      expectClose(probabilities, [...softmax(expected[index]?.logits as Float32Array)]);
    }
  });

  it('classifies by the labels of a request', async () => {
    const classifier = createZeroShotClassifier(
      task as unknown as Task,
      model as unknown as TaskModel,
    );
    const request = { texts: golden.texts, labels: ['a', 'b', 'c'], template: null };
    const single = await classifier?.classifyLabels({ ...request, isMultiLabel: false }, {});
    expect(single?.answers).toHaveLength(golden.texts.length);
    for (const answer of single?.answers ?? []) {
      const sum = answer.reduce((all, { score }) => all + score, 0);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
    }
  });

  it('truncates a long text at the requested end', async () => {
    const input = inputOf(golden.classes[11] as Golden['classes'][number]);
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
    const input = { text, truncationSide: 'right', task: 'a', instructions: '[L] (', classes } as const;
    const { logits } = await model.run(input, {});
    expect(logits).toHaveLength(marked.length);
    const many = Array.from({ length: 255 }, (_, i) => `class number ${i} with several words`);
    const long = many.map((each) => ({ name: each, description: null }));
    await expect(model.run({ ...input, classes: long }, {})).rejects.toThrow(
      /^The labels and the instructions have \d+ tokens, which leave none for the text/,
    );
  });
});
