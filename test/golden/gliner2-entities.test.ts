import { EntityRecognizer } from '../../src/embedded/entity-recognizer';
import { codePointCounter } from '../../src/lib/code-points';
import type { EntityLabel, EntityOptions } from '../../src/tasks/entity-recognition/entities';
import { findEntities } from '../../src/tasks/entity-recognition/find-entities';
import { toDescribedLabels, toLabels } from '../../src/tasks/entity-recognition/labels';
import { overlapsOf } from '../../src/tasks/entity-recognition/overlaps';
import { gliner2 } from '../../src/tasks/gliner2/gliner2-task';
import { TaskModel } from '../../src/tasks/task-model';
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

function entityLabelsOf(labels: Labels): readonly EntityLabel[] {
  return Array.isArray(labels)
    ? toLabels(labels)
    : toDescribedLabels(labels as Readonly<Record<string, string>>);
}

describe.each(GLINER2_MODELS.filter(isSpanModel))('entities of %s', (name) => {
  const golden = readGliner2Golden(name);
  const load = () => TaskModel.load(gliner2, gliner2Folder(name), SCHEDULING);
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
      const [{ labels, threshold }] = group as [GoldenGliner2['entities'][number]];
      const options = optionsOf(labels, threshold);
      const together = await findEntities(model, texts, options, {});
      for (const { text: index, entities } of group) {
        const text = texts[index] as string;
        const alone = await findEntities(model, [text], options, {});
        expect(alone.entities[0]).toEqual(together.entities[index]);
        const length = [...text.trimEnd()].length;
        const toCodePoint = codePointCounter(text);
        const found = (together.entities[index] ?? []).map(({ start, end, label, score }) => ({
          start: toCodePoint(start),
          end: toCodePoint(end),
          label,
          score,
        }));
        for (const label of Object.keys(entities)) {
          // gliner2 adds a period to the text, which is not in the text.
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
    const options = {
      ...optionsOf(['person', 'city', 'film'], 0.3),
      ...overlapsOf(true, loaded.metadata),
    };
    const { entities } = await findEntities(model, texts, options, {});
    expect(entities.flat().length).toBeGreaterThan(5);
    for (const own of entities) {
      for (const [index, { start }] of own.entries()) {
        expect(start).toBeGreaterThanOrEqual(own[index - 1]?.end ?? 0);
      }
    }
  });

  it('has the same entities in the process', async () => {
    const engine = await EntityRecognizer.load({ modelDirectory: gliner2Folder(name) });
    const row = golden.entities.find(
      ({ threshold, entities }) => threshold === 0.5 && Object.values(entities).flat().length > 1,
    ) as GoldenGliner2['entities'][number];
    const { text, labels, entities } = row;
    const found = await engine.tag(golden.texts[text] as string, { labels });
    expect(found).toHaveLength(Object.values(entities).flat().length);
    await engine.close();
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
