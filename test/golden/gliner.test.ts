import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { codePointCounter } from '../../src/lib/code-points';
import type { LabelEncoder, TextModelSource } from '../../src/native/engine';
import type { Entity } from '../../src/tasks/entity-recognition/entities';
import { entityRecognition } from '../../src/tasks/entity-recognition/entity-recognition-task';
import { findEntities } from '../../src/tasks/entity-recognition/find-entities';
import { toLabels } from '../../src/tasks/entity-recognition/labels';
import { TaskModel } from '../../src/tasks/task-model';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;

interface Golden {
  readonly texts: readonly string[];
  readonly answers: readonly {
    readonly text: number;
    readonly labels: readonly string[];
    readonly threshold: number;
    readonly flat_ner: boolean;
    readonly multi_label: boolean;
    /** Start and end in code points, label, score. */
    readonly entities: readonly (readonly [number, number, string, number])[];
  }[];
}

const ROOT = 'gliner';

const optionsOf = ({ labels, threshold, flat_ner, multi_label }: Golden['answers'][number]) => ({
  labels: toLabels(labels),
  threshold,
  isFlat: flat_ner,
  isMultiLabel: multi_label,
});

describe.each(readdirSync(path.join(FIXTURES, ROOT)))('%s', (name) => {
  const { texts, answers } = readFixture<Golden>(ROOT, name, 'golden.json');
  const load = () => TaskModel.load(entityRecognition, path.join(FIXTURES, ROOT, name), SCHEDULING);
  let model: Awaited<ReturnType<typeof load>>;

  beforeAll(async () => {
    model = await load();
  });

  afterAll(() => model.close());

  const inCodePoints = (entities: readonly Entity[], text: string) => {
    const toCodePoint = codePointCounter(text);
    return entities.map(({ start, end, label }) => [toCodePoint(start), toCodePoint(end), label]);
  };

  it('finds the entities of gliner, alone and in batches', async () => {
    expect(answers.length).toBe(90);
    for (let first = 0; first < answers.length; first += texts.length) {
      const group = answers.slice(first, first + texts.length);
      const options = optionsOf(group[0] as Golden['answers'][number]);
      const together = await findEntities(model, texts, options, {});
      for (const { text: index, entities: expected } of group) {
        const text = texts[index] as string;
        const alone = await findEntities(model, [text], options, {});
        expect(alone.entities[0]).toEqual(together.entities[index]);
        const found = together.entities[index] ?? [];
        expect(inCodePoints(found, text)).toEqual(expected.map((entity) => entity.slice(0, 3)));
        for (const [position, [, , , score]] of expected.entries()) {
          expect(Math.abs((found[position]?.score ?? 2) - score)).toBeLessThanOrEqual(TOLERANCE);
        }
      }
    }
  });

  it('reads a long text in windows, in which offsets and neighbors stay exact', async () => {
    const sentence = `${texts[2]} `;
    const options = { ...optionsOf(answers[0] as Golden['answers'][number]), threshold: 0.1 };
    const long = sentence.repeat(20);
    const { entities, inferences } = await findEntities(model, [sentence, long], options, {});
    expect(inferences.length).toBeGreaterThan(9);
    const found = (entities[1] ?? []).map(({ start, end }) => long.slice(start, end));
    expect(found.length).toBeGreaterThan(19);
    for (const one of found) expect(one.trim()).toBe(one);
    expect((entities[1]?.at(-1)?.start ?? 0) / sentence.length).toBeGreaterThan(18);
  });

  it('finds nothing in a text without words', async () => {
    const options = optionsOf(answers[0] as Golden['answers'][number]);
    const { entities } = await findEntities(model, ['', ' \n\u00a0', '\u001c'], options, {});
    expect(entities).toEqual([[], [], []]);
  });

  it('keeps labels apart from markers in texts and labels', async () => {
    const options = { ...optionsOf(answers[0] as Golden['answers'][number]), threshold: 0 };
    const labels = toLabels(['<<ENT>> a', '<<SEP>>', 'city']);
    const text = 'One <<ENT>> two <<SEP>> three.';
    const { candidates } = await model.run({ text, labels, threshold: 0 }, {});
    const rows = Array.from({ length: candidates?.length ?? 0 }, (_, row) =>
      candidates?.label(row),
    );
    expect(new Set(rows)).toEqual(new Set([0, 1, 2]));
    expect(options.labels).toHaveLength(1);
  });

  it('rejects labels with too many tokens', async () => {
    // With an encoder of their own, labels take no tokens of the text.
    const [count, expected] = name.startsWith('bi-')
      ? [2000, /^The labels have more than 8192 tokens, the limit/]
      : [100, /^The labels have \d+ tokens, the model takes 256/];
    const labels = toLabels(Array.from({ length: count }, (_, i) => `label number ${i}`));
    const answer = model.run({ text: 'A text.', labels, threshold: 0.5 }, {});
    await expect(answer).rejects.toMatchObject({ code: 'INPUT_TOO_LONG' });
    await expect(answer).rejects.toThrow(expected);
  });
});

it('leaves out words without tokens, and keeps the offsets of the others', async () => {
  const folder = path.join(FIXTURES, ROOT, 'bert-marker-v1');
  const model = await TaskModel.load(entityRecognition, folder, SCHEDULING);
  const options = {
    labels: toLabels(['a', 'b']),
    threshold: 0.1,
    isFlat: false,
    isMultiLabel: true,
  };
  const plain = 'Ada met Bob in \ud83d\udc69 \ud83d\ude80 London.';
  const joined = 'Ada met Bob in \ud83d\udc69 \u200d \ud83d\ude80 London.';
  const { entities } = await findEntities(model, [plain, joined], options, {});
  const shift = (offset: number) => (offset > plain.indexOf('\ud83d\ude80') ? offset + 2 : offset);
  expect(entities[0]?.length).toBeGreaterThan(3);
  expect(entities[1]).toEqual(
    entities[0]?.map((entity) => ({
      ...entity,
      start: shift(entity.start + 1) - 1,
      end: shift(entity.end),
    })),
  );
  await model.close();
});

describe('labels with an encoder of their own', () => {
  const folder = path.join(FIXTURES, ROOT, 'bi-modernbert-marker');
  const TEXT = 'Ada Lovelace met Charles Babbage in London on 5 June 1833.';
  const labels = toLabels(['person', 'city', '\u200d', 'date of birth']);
  const load = () => TaskModel.load(entityRecognition, folder, SCHEDULING);

  it('have the same scores whatever the order, and whether they are cached or not', async () => {
    const model = await load();
    const scoresOf = async (
      given: readonly { readonly name: string; readonly prompt: string }[],
    ) => {
      const input = { text: TEXT, labels: given, threshold: 0.01 };
      const { candidates } = await model.run(input, {});
      const spans = Array.from({ length: candidates?.length ?? 0 }, (_, row) =>
        candidates?.at(row),
      );
      return new Map(
        spans.map((one) => {
          const { label = 0, score = 0, ...span } = one ?? {};
          return [JSON.stringify({ ...span, name: given[label]?.name }), score] as const;
        }),
      );
    };
    const first = await scoresOf(labels);
    expect(first.size).toBeGreaterThan(20);
    expect(await scoresOf(labels)).toEqual(first);
    const reversed = await scoresOf(labels.toReversed());
    expect(reversed.size).toBe(first.size);
    for (const [span, score] of first) {
      expect(Math.abs((reversed.get(span) ?? 2) - score)).toBeLessThanOrEqual(1e-6);
    }
    await model.close();
  });

  it('are encoded when the model loads if its source lists them', async () => {
    const sets = Array.from({ length: 20 }, (_, set) =>
      Array.from({ length: 250 }, (_, index) => `label ${set} ${index}`),
    );
    const files = entityRecognition.read(folder);
    const source = files.source as TextModelSource;
    const labelEncoder = { ...(source.labelEncoder as LabelEncoder), labels: sets.flat() };
    /** Processor time of first requests with the labels, in µs. */
    const timeOf = async (own: TextModelSource): Promise<number> => {
      const model = await TaskModel.load(entityRecognition, folder, SCHEDULING, {
        ...files,
        source: own,
      });
      const begin = process.cpuUsage();
      for (const names of sets) {
        await model.run({ text: TEXT, labels: toLabels(names), threshold: 0.9 }, {});
      }
      const { user, system } = process.cpuUsage(begin);
      await model.close();
      return user + system;
    };
    const later = await timeOf(source);
    // A third on an idle machine: tokenizing the labels remains.
    expect(await timeOf({ ...source, labelEncoder })).toBeLessThan(0.75 * later);
  });

  it('count as tokens of each text', async () => {
    const model = await load();
    const tokensOf = async (given: readonly string[]) => {
      const input = { text: TEXT, labels: toLabels(given), threshold: 0.5 };
      return (await model.run(input, {})).inference.tokens;
    };
    const [one, both] = [await tokensOf(['person']), await tokensOf(['person', 'city'])];
    expect(both).toBeGreaterThan(one + 2);
    expect(await tokensOf(['person', 'city'])).toBe(both);
    await model.close();
  });
});

it('reads words that are a token of the prompt without a row in the embedding table', async () => {
  const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'gliner-')), 'model');
  cpSync(path.join(FIXTURES, ROOT, 'bi-modernbert-marker'), folder, { recursive: true });
  for (const name of ['gliner_config.json', 'tokenizer.json', 'tokenizer_config.json']) {
    const file = path.join(folder, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll('<<ENT>>', 'ENT').replaceAll('<<SEP>>', 'SEP'));
  }
  const model = await TaskModel.load(entityRecognition, folder, SCHEDULING);
  const options = {
    labels: toLabels(['a', 'ENT']),
    threshold: 0,
    isFlat: false,
    isMultiLabel: true,
  };
  const found = async (text: string) => {
    const { entities } = await findEntities(model, [text], options, {});
    return entities[0]?.map(({ start, end, ...rest }) => ({
      ...rest,
      word: text.slice(start, end),
    }));
  };
  expect(await found('ENT')).toEqual([]);
  expect(await found('Ada met Bob ENT SEP')).toEqual(await found('Ada met Bob'));
  expect((await found('ENT Ada met Bob'))?.length).toBeGreaterThan(0);
  await model.close();
  rmSync(path.dirname(folder), { recursive: true });
});
