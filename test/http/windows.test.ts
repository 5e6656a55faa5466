import { roundToFourDecimals } from '../../src/lib/numbers';
import { near } from '../helpers/documented';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { ModelsDirectory, modelOf } from '../helpers/models-directory';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const MODEL = 'bert-single-label';

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
const [short, , long, overlapping] = cases.filter(({ model }) => model === MODEL) as [
  Case,
  Case,
  Case,
  Case,
];

let service: Service;
let labels: readonly string[];

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel(MODEL) });
  const { json } = await post(service, '/analyze/batch', { texts: ['a'] });
  labels = Object.keys(
    (json as { results: { probabilities: object }[] }).results[0]?.probabilities ?? {},
  );
});

afterAll(killAll);

/** The best of each label's scores, put together in this way. */
function best(scores: readonly number[]) {
  const score = Math.max(...scores);
  return { label: labels[scores.indexOf(score)], score };
}

const told = ({ windows }: Case) =>
  windows.map(({ start, end, scores }) => ({ start, end, ...best(scores) }));

const together = ({ windows }: Case, way: (of: readonly number[]) => number) =>
  labels.map((_, label) => way(windows.map(({ scores }) => scores[label] as number)));

const mean = (of: readonly number[]) => of.reduce((sum, one) => sum + one) / of.length;
const max = (of: readonly number[]) => Math.max(...of);

it('reads a long text whole, and says what each window was', async () => {
  const { text } = long;
  const { json, headers } = await post(service, '/analyze', { text, long_texts: 'windows' });
  const { label, score } = best(together(long, mean));
  expect(json).toEqual(near({ input_text: text, label, score, windows: told(long) }));
  expect(headers['x-input-truncated']).toBeUndefined();
  const { windows } = json as { windows: { score: number }[] };
  for (const one of windows) expect(one.score).toBe(roundToFourDecimals(one.score));
});

it('takes the highest score of any window, and windows that overlap', async () => {
  const { text, stride } = overlapping;
  const asked = { text, long_texts: 'windows', stride, combine: 'max' };
  const { json } = await post(service, '/analyze', asked);
  const { label, score } = best(together(overlapping, max));
  expect(json).toEqual(near({ input_text: text, label, score, windows: told(overlapping) }));
});

it('reads each text of a list so, and one that fits in one window', async () => {
  const texts = [short.text, { text: long.text }];
  const { json } = await post(service, '/analyze/batch', { texts, long_texts: 'windows' });
  const { results } = json as { results: { windows: object[]; probabilities: object }[] };
  expect(results.map(({ windows }) => windows)).toEqual(near([told(short), told(long)]));
  const [first, second] = [short, long].map((one) =>
    Object.fromEntries(together(one, mean).map((score, index) => [labels[index], score])),
  );
  expect(results.map(({ probabilities }) => probabilities)).toEqual(near([first, second]));
});

it('cuts as before where nothing else is said', async () => {
  const { text } = long;
  const { json, headers } = await post(service, '/analyze', { text });
  expect(headers['x-input-truncated']).toBe('true');
  expect(json).not.toHaveProperty('windows');
  const cut = await post(service, '/analyze', { text, long_texts: 'truncate', combine: 'max' });
  expect(cut.json).toEqual(json);
});

it.each([
  [{ long_texts: 'all' }, 'long_texts: expected "truncate" or "windows"'],
  [{ long_texts: 'windows', stride: -1 }, 'stride: expected at least 0'],
  [{ long_texts: 'windows', stride: 1.5 }, 'stride: expected a whole number'],
  [{ long_texts: 'windows', combine: 'sum' }, 'combine: expected "mean" or "max"'],
  [
    { long_texts: 'windows', stride: 1000 },
    expect.stringMatching(/^stride: 1000 tokens, expected fewer than /),
  ],
  [
    { long_texts: 'windows', text_pair: 'b' },
    'stride: text pairs have no windows. Send a single text or no stride',
  ],
])('refuses %j', async (more, detail) => {
  const { status, json } = await post(service, '/analyze', { text: 'a', ...more });
  expect([status, json]).toEqual([422, { detail }]);
});

it('reads them so over all protocols where model.json says so', async () => {
  const models = new ModelsDirectory();
  const settings = { long_texts: 'windows', stride: overlapping.stride, combine: 'max' };
  models.text('guard', MODEL, settings);
  models.text('vectors', MODEL, { ...settings, task: 'reranking' });
  const directory = await models.start();
  try {
    const { text } = overlapping;
    const expected = best(together(overlapping, max));
    const { json } = await post(directory, '/models/guard/analyze', { text });
    expect(json).toEqual(near({ input_text: text, ...expected, windows: told(overlapping) }));
    const other = await post(directory, '/models/guard/predict', { inputs: text });
    expect((other.json as object[])[0]).toEqual(near(expected));
    const cut = await post(directory, '/models/guard/analyze', { text, long_texts: 'truncate' });
    expect(cut.headers['x-input-truncated']).toBe('true');
    const pair = await post(directory, '/models/guard/analyze', { text: 'a', text_pair: 'b' });
    expect([pair.status, 'windows' in (pair.json as object)]).toEqual([200, false]);
    expect(await modelOf(directory, 'vectors')).toMatchObject({
      versions: [{ state: 'failed', reason: 'model.json: long_texts: is for text classifiers' }],
    });
  } finally {
    await killAll();
    models.folder.remove();
  }
});
