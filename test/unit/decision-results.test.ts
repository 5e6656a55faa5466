import { findTemplateProblem, hypothesesOf } from '../../src/tasks/decision/hypotheses';
import { choiceConfidence, resultOf, scoreConfidence } from '../../src/tasks/decision/results';

describe('confidence', () => {
  // By the formulas of system-one-adapter-python (confidence_metrics.py).
  it.each<[readonly number[], number, number]>([
    [[1], 1, 1],
    [[0.5, 0.5], 0, 0],
    [[1, 0], 1, 1],
    [[0, 1, 0], 1, 1],
    [[0.25, 0.5, 0.25], 0.25, 0.25],
    [[0.5, 0, 0.5], 0.25, 0],
    [[0.1, 0.2, 0.3, 0.4], 0.2, 0],
    [[0.7, 0.2, 0.1, 0], 0.6, 0.6],
  ])('of %j', (probabilities, choice, score) => {
    expect(choiceConfidence(probabilities)).toBeCloseTo(choice, 12);
    expect(scoreConfidence(probabilities)).toBeCloseTo(score, 12);
  });
});

describe('resultOf', () => {
  const answer = (probabilities: readonly number[]) => ({ probabilities, isTruncated: false });

  it('scales probabilities to a sum of 1', () => {
    const result = resultOf({ type: 'choice' }, answer([0.2, 0.2, 0.1]));
    expect(result).toMatchObject({ choice: 0, probabilities: [0.4, 0.4, 0.2] });
    expect(resultOf({ type: 'score' }, answer([0, 0, 0]))).toMatchObject({
      score: 1,
      probabilities: [1 / 3, 1 / 3, 1 / 3],
    });
  });

  it('has the mean level as the score, and P(true) of a predicate', () => {
    expect(resultOf({ type: 'score' }, answer([0.25, 0.25, 0.5]))).toMatchObject({ score: 1.25 });
    expect(resultOf({ type: 'predicate' }, answer([0.25, 0.75]))).toEqual({
      type: 'predicate',
      probability: 0.75,
      isTruncated: false,
    });
  });
});

describe('hypotheses', () => {
  const templates = { template: '{instructions}: {option}', label_template: 'It is {option}.' };
  const option = (label: string, description: string | null = null) => ({ label, description });

  it('inserts texts as they are', () => {
    const options = [option('$& {option}'), option('a', '{instructions}')];
    const question = { type: 'choice', instructions: '$1', options } as const;
    expect(hypothesesOf([question, { ...question, instructions: null }], templates)).toEqual([
      ['$1: $& {option}', '$1: {instructions}'],
      ['It is $& {option}.', '{instructions}'],
    ]);
  });

  it('rejects instructions that are too long for all options together', () => {
    const options = Array.from({ length: 255 }, (_, index) => option(String(index)));
    const ask = (length: number) => () =>
      hypothesesOf([{ type: 'choice', instructions: 'x'.repeat(length), options }], templates);
    expect(ask(2 ** 14)()[0]?.length).toBe(255);
    expect(ask(2 ** 15)).toThrow(/over the limit of 4194304/);
  });

  it.each([
    ['{option}', null],
    ['{instructions} {option}', null],
    ['option', 'expected {option} once'],
    ['{option} {option}', 'expected {option} once'],
    ['{option} {label}', 'expected only {instructions}, {option}, found {label}'],
    ['{option} {', 'expected no other braces'],
  ])('template %s', (template, problem) => {
    expect(findTemplateProblem(template, ['instructions', 'option'])).toBe(problem);
  });
});
