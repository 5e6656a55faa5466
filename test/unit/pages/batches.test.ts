import { splitLines } from '../../../src/pages/sentiment/lines';
import { type BatchOptions, type Outcome, runInBatches } from '../../../src/pages/shared/batches';
import { toCsv } from '../../../src/pages/shared/csv-file';
import { ApiError, explain } from '../../../src/pages/shared/errors';

/** Runs over items with a service that answers with doubles, or as `send` says. */
async function run(items: readonly number[], options: Partial<BatchOptions<number, number>> = {}) {
  const outcomes: Outcome<number>[] = [];
  const sent: number[][] = [];
  await runInBatches<number, number>({
    items,
    limits: { count: 3, bytes: 1000 },
    bytesOf: () => 10,
    signal: new AbortController().signal,
    onOutcomes: (start, some) => {
      expect(start).toBe(outcomes.length);
      outcomes.push(...some);
    },
    ...options,
    send: async (batch) => {
      sent.push([...batch]);
      return options.send ? options.send(batch) : batch.map((item) => item * 2);
    },
  });
  return {
    sent,
    outcomes: outcomes.map((outcome) => (outcome.ok ? outcome.result : outcome.error)),
  };
}

describe('runInBatches', () => {
  it('keeps the order and the limit on the count', async () => {
    expect(await run([1, 2, 3, 4, 5, 6, 7])).toEqual({
      sent: [[1, 2, 3], [4, 5, 6], [7]],
      outcomes: [2, 4, 6, 8, 10, 12, 14],
    });
    expect(await run([])).toEqual({ sent: [], outcomes: [] });
  });

  it('keeps the limit on bytes, and sends alone what is larger by itself', async () => {
    const { sent } = await run([10, 60, 10, 500, 10], {
      limits: { count: 10, bytes: 64 + 85 },
      bytesOf: (item) => item,
    });
    expect(sent).toEqual([[10, 60, 10], [500], [10]]);
  });

  it('gives the element at fault its error, and the others their results', async () => {
    const send = async (batch: readonly number[]) => {
      const bad = batch.findIndex((item) => item < 0);
      if (bad >= 0) throw new ApiError(400, `texts[${bad}]: is negative`);
      return batch.map((item) => item * 2);
    };
    const { outcomes, sent } = await run([1, -2, 3, -4, -5, -6, 7], { send });
    expect(outcomes).toEqual([
      2,
      'texts[1]: is negative',
      6,
      'texts[0]: is negative',
      'texts[0]: is negative',
      'texts[0]: is negative',
      14,
    ]);
    expect(sent).toEqual([[1, -2, 3], [1, 3], [-4, -5, -6], [-5, -6], [-6], [7]]);
  });

  it('gives an element that is too large its error', async () => {
    const send = async (batch: readonly number[]) => {
      if (batch.includes(9)) throw new ApiError(413, 'The body is over the limit of 10 bytes.');
      return [...batch];
    };
    const { outcomes } = await run([1, 9, 2], { send, limits: { count: 1, bytes: 1 } });
    expect(outcomes).toEqual([1, 'The body is over the limit of 10 bytes.', 2]);
  });

  it('waits and tries again while the service is busy', async () => {
    let refusals = 2;
    const send = async (batch: readonly number[]) => {
      if (refusals-- > 0) throw new ApiError(503, 'The queue is full.', 0.001);
      return [...batch];
    };
    expect(await run([1, 2, 3], { send })).toEqual({
      sent: [[1, 2, 3], [1, 2], [1], [2], [3]],
      outcomes: [1, 2, 3],
    });
  });

  it('gives up when the service stays busy', async () => {
    const error = new ApiError(503, 'The queue is full.', 0.001);
    await expect(run([1, 2], { send: () => Promise.reject(error) })).rejects.toBe(error);
  });

  it('ends with what concerns all elements', async () => {
    for (const error of [
      new ApiError(500, 'Model is not loaded.'),
      new ApiError(null, 'gone'),
      new ApiError(422, 'texts[7]: is beyond the list'),
      new ApiError(422, 'body: is not valid JSON'),
    ]) {
      const send = () => Promise.reject(error);
      await expect(run([1, 2], { send })).rejects.toBe(error);
    }
    await expect(run([1, 2], { send: async () => [1] })).rejects.toThrow('1 results came for 2');
  });

  it('ends when it is cancelled, also while it waits', async () => {
    const controller = new AbortController();
    const send = async () => {
      setTimeout(() => controller.abort(new Error('enough')), 5);
      throw new ApiError(503, 'The queue is full.', 60);
    };
    await expect(run([1], { send, signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('explain', () => {
  const cases: readonly (readonly [Error, RegExp])[] = [
    [new ApiError(null, 'nothing came'), /cannot be reached/],
    [new ApiError(400, 'Text payload cannot be empty.'), /does not accept/],
    [new ApiError(413, 'too much'), /more than the service takes/],
    [new ApiError(422, 'texts: is required'), /does not accept/],
    [new ApiError(500, 'Model is not loaded.'), /not loaded/],
    [new ApiError(500, 'some error'), /could not answer/],
    [new ApiError(503, 'The queue is full.', 3), /busy/],
    [new ApiError(504, 'deadline'), /in time/],
    [new ApiError(502, 'Bad Gateway'), /502/],
    [new TypeError('x is undefined'), /wrong on this page/],
  ];

  it.each(cases.map(([error, title]) => ({ name: error.message, error, title })))(
    'says what happened and what to do: $name',
    ({ error, title }) => {
      const explanation = explain(error);
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
