import type { Inference } from '../../src/native/engine';
import type { Candidates } from '../../src/tasks/entity-recognition/entities';
import { overlapsOf, selectEntities } from '../../src/tasks/entity-recognition/overlaps';
import { type Candidate, SpanRows } from '../../src/tasks/entity-recognition/span-rows';
import { withoutAddedPeriod } from '../../src/tasks/gliner2/added-period';
import { classRecipe, gliner2Prompt } from '../../src/tasks/gliner2/class-sequence';
import type { TextTokens } from '../../src/tasks/token-recipe';

const METADATA = { name: null, version: null, maxWidth: 8 };

const tokensOf = (...ids: number[]): TextTokens => ({
  ids: Uint32Array.from(ids),
  types: new Uint32Array(ids.length),
  offsets: new Uint32Array(2 * ids.length),
  texts: new Uint32Array(ids.length).fill(1),
});

describe('prompt', () => {
  it('has the instructions and the descriptions', () => {
    const labels = [
      { name: 'a', description: null },
      { name: 'b', description: 'the second' },
    ];
    expect(gliner2Prompt('task', null, labels)).toBe('task [DESCRIPTION] b: the second');
    expect(gliner2Prompt('task', 'Which?', [])).toBe('task: Which?');
    expect(gliner2Prompt('task', '', [])).toBe('task');
  });
});

describe('sequence of classes', () => {
  const recipe = (truncationSide: 'left' | 'right') =>
    classRecipe({
      text: 'text',
      truncationSide,
      task: 'task',
      instructions: null,
      classes: ['a', 'b', 'a'].map((name) => ({ name, description: null })),
    });
  const names = [tokensOf(30, 31), tokensOf(), tokensOf(30, 31)];
  const parts = [1, 2, 3, 4, 5].map((id) => tokensOf(id));
  const tokens = [...parts, tokensOf(20, 21), ...names, tokensOf(40, 41, 42)];

  it('has markers before the classes', () => {
    expect(recipe('right').texts).toEqual([
      '(',
      ')',
      '[P]',
      '[L]',
      '[SEP_TEXT]',
      'task',
      'a',
      'b',
      'a',
    ]);
    const { ids, markers, truncated } = recipe('right').compose(tokens, 100);
    expect([...ids]).toEqual([
      ...[1, 3, 20, 21, 1, 4, 30, 31, 4, 4, 30, 31, 2, 2, 5],
      ...[40, 41, 42],
    ]);
    expect([...(markers ?? [])]).toEqual([5, 8, 9]);
    expect(truncated).toBe(false);
  });

  it('loses tokens of the text only', () => {
    const right = recipe('right').compose(tokens, 17);
    expect([...right.ids].slice(15)).toEqual([40, 41]);
    const left = recipe('left').compose(tokens, 16);
    expect([...left.ids].slice(15)).toEqual([42]);
    expect(left.truncated).toBe(true);
    expect(() => recipe('left').compose(tokens, 15)).toThrow(
      'The labels and the instructions have 15 tokens, which leave none for the text: the model takes 15.',
    );
  });
});

describe('candidates with the added period', () => {
  const answerOf = (candidates: readonly Candidate[]): Candidates => ({
    candidates: SpanRows.of(candidates),
    input: { text: 'One two', labels: [], threshold: 0 },
    inference: { words: { offsets: Uint32Array.of(0, 3, 4, 7) } } as unknown as Inference,
  });

  it('end at the last word of the text', () => {
    const candidates = [
      { first: 0, last: 1, label: 0, score: 0.4 },
      { first: 0, last: 2, label: 0, score: 0.6 },
      { first: 1, last: 2, label: 1, score: 0.7 },
      { first: 2, last: 2, label: 1, score: 0.9 },
    ];
    const { candidates: found } = withoutAddedPeriod(answerOf(candidates));
    expect(Array.from({ length: found?.length ?? 0 }, (_, row) => found?.at(row))).toEqual([
      { first: 0, last: 1, label: 0, score: 0.6 },
      { first: 1, last: 1, label: 1, score: 0.7 },
    ]);
  });

  it('keep the others', () => {
    const answer = answerOf([{ first: 0, last: 1, label: 0, score: 0.4 }]);
    expect(withoutAddedPeriod(answer)).toBe(answer);
  });
});

describe('overlaps', () => {
  const candidates = [
    { first: 0, last: 1, label: 0, score: 0.6 },
    { first: 1, last: 2, label: 0, score: 0.5 },
    { first: 1, last: 1, label: 1, score: 0.4 },
  ];

  it('are resolved for each label by default', () => {
    const perLabel = {
      ...overlapsOf(null, { ...METADATA, isFlatPerLabel: true }),
      isMultiLabel: false,
    };
    expect(selectEntities(SpanRows.of(candidates), perLabel)).toEqual([
      candidates[0],
      candidates[2],
    ]);
  });

  it('are resolved for all labels by other models, and if the request asks for it', () => {
    const isMultiLabel = false;
    for (const overlaps of [
      overlapsOf(null, METADATA),
      overlapsOf(true, { ...METADATA, isFlatPerLabel: true }),
    ]) {
      expect(selectEntities(SpanRows.of(candidates), { ...overlaps, isMultiLabel })).toEqual([
        candidates[0],
      ]);
    }
  });
});
