import { NoAnswerError, ResponseError } from '../../../src/client';
import { collectOutcomes, RUN_OPTIONS } from '../../../src/pages/shared/batch-run';
import { explainError, UnreachableError } from '../../../src/pages/shared/errors';
import { toCsv } from '../../../src/pages/shared/format';
import { splitLines } from '../../../src/pages/shared/lines';

function answered(status: number, detail: string, retryAfter: number | null = null): ResponseError {
  return new ResponseError({ status, detail, retryAfter, code: null, requestId: null });
}

describe('follow', () => {
  it('shows all outcomes at the end, in their order', async () => {
    const shown: (readonly number[])[] = [];
    async function* outcomes() {
      yield* [1, 2, 3];
    }
    await collectOutcomes(outcomes(), (all) => shown.push(all));
    expect([shown[0], shown.at(-1)]).toEqual([[1], [1, 2, 3]]);
  });

  it('shows those that came before an error, and ends with it', async () => {
    const error = answered(500, 'Model is not loaded.');
    let shown: readonly number[] = [];
    async function* outcomes() {
      yield* [1, 2];
      throw error;
    }
    const end = collectOutcomes(outcomes(), (all) => {
      shown = all;
    });
    await expect(end).rejects.toBe(error);
    expect(shown).toEqual([1, 2]);
  });
});

it('asks again where the service is busy, and not where it is gone or too slow', () => {
  const { onRetry } = RUN_OPTIONS;
  expect(() => onRetry(answered(503, 'The queue is full.', 1))).not.toThrow();
  for (const error of [answered(504, 'too late'), new UnreachableError()]) {
    expect(() => onRetry(error)).toThrow(error);
  }
});

describe('explainError', () => {
  const cases: readonly (readonly [Error, RegExp])[] = [
    [new UnreachableError(), /cannot be reached/],
    [answered(424, 'The model raised an error.'), /model failed/],
    [answered(429, 'The queue is full.', 1), /overloaded/],
    [answered(400, 'Text payload cannot be empty.'), /rejected/],
    [answered(413, 'too much'), /too large/],
    [answered(422, 'texts: is required'), /rejected/],
    [answered(500, 'Model is not loaded.'), /not loaded/],
    [answered(500, 'some error'), /model failed/],
    [answered(503, 'The queue is full.', 3), /overloaded/],
    [answered(504, 'deadline'), /timed out/],
    [answered(502, 'Bad Gateway'), /502/],
    [new NoAnswerError(3, answered(504, 'deadline')), /timed out/],
    [new TypeError('x is undefined'), /page has an error/],
  ];

  it.each(cases.map(([error, title]) => ({ name: error.message, error, title })))(
    'says what happened and what to do: $name',
    ({ error, title }) => {
      const explanation = explainError(error);
      expect(explanation.title).toMatch(title);
      expect(explanation.advice).not.toBe('');
    },
  );
});

describe('toCsv', () => {
  it('quotes what has to be, and disarms formulas', () => {
    expect(
      toCsv(
        ['a', 'b'],
        [
          ['x, "y"\nz', 1.5],
          ['=1+1', null],
        ],
      ),
    ).toBe('a,b\r\n"x, ""y""\nz",1.5\r\n"\'=1+1",\r\n');
  });

  it('leaves negative numbers alone', () => {
    expect(toCsv(['a'], [[-1.5]])).toBe('a\r\n-1.5\r\n');
  });
});

describe('splitLines', () => {
  it('leaves out blank lines and keeps the numbers of the others', () => {
    expect(splitLines('a\r\n\r\n  b \n\t\rc')).toEqual([
      { number: 1, text: 'a' },
      { number: 3, text: 'b' },
      { number: 5, text: 'c' },
    ]);
    expect(splitLines(' \n')).toEqual([]);
  });
});
