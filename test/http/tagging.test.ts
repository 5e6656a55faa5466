/** A token classifier in a directory of models: its own routes, Hugging Face's and Open Inference's. */
import { ResponseError, TagClient } from '../../src/client';
import { readFixture } from '../helpers/golden';
import { type Answer, post, request } from '../helpers/http';
import { modelsOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import type { Service } from '../helpers/service';

const TEXT = '\u{1f600} Berlin is a film. \u{1f600} The end';
const LONG = 'The \u{1f600} film is good, café. '.repeat(40);

interface Tag {
  readonly label: string;
  readonly score: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}
interface Told {
  readonly input_text: string;
  readonly tags: readonly Tag[];
  readonly truncated: boolean;
}
interface GoldenRow {
  readonly text: number;
  readonly strategy: string;
  readonly stride?: number;
  readonly spans: readonly (readonly [string, number, string, number, number, number | null])[];
}

const { texts } = readFixture('tagging/texts.json') as { texts: readonly string[] };
const { rows } = readFixture('tagging/bert/golden.json') as { rows: readonly GoldenRow[] };

let service: Service;
const ask = (route: string, body: object): Promise<Answer> =>
  post(service, `/models/tagger${route}`, body);
const tagged = async (body: object): Promise<Told> => (await ask('/tag', body)).json as Told;

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('tagger', '../tagging/bert');
  service = await directory.start({ env: { MAX_LIST_LENGTH: '8' } });
});

afterAll(removeDirectories);

it('is known as what config.json says', async () => {
  expect(await modelsOf(service)).toMatchObject([
    { name: 'tagger', task: 'token-classification', serving: '1' },
  ]);
});

describe('POST /tag', () => {
  it('tells spans that select characters of the text', async () => {
    const { input_text, tags, truncated } = await tagged({ text: TEXT, ignore_labels: [] });
    expect({ input_text, truncated }).toEqual({ input_text: TEXT, truncated: false });
    expect(tags[0]?.start).toBe(0);
    expect(tags.at(-1)?.end).toBe(TEXT.length);
    for (const { score, start, end } of tags) {
      expect(score).toBe(Number(score.toFixed(4)));
      expect(TEXT.slice(start, end)).not.toMatch(/^\s|[\ud800-\udfff]/u);
    }
  });

  it('leaves out what is asked for', async () => {
    const several = rows.find(
      ({ strategy, spans }) =>
        strategy === 'simple' && new Set(spans.map(([label]) => label)).size > 1,
    );
    const text = texts[several?.text ?? 0];
    const all = await tagged({ text, ignore_labels: [] });
    const labels = new Set(all.tags.map(({ label }) => label));
    expect(labels.size).toBeGreaterThan(1);
    const [first] = labels;
    const rest = await tagged({ text, ignore_labels: [first] });
    expect(rest.tags).toEqual(all.tags.filter(({ label }) => label !== first));
  });

  it('cuts a long text, or reads all of it in windows', async () => {
    const cut = await tagged({ text: LONG, ignore_labels: [] });
    const whole = await tagged({ text: LONG, ignore_labels: [], stride: 4 });
    expect([cut.truncated, whole.truncated]).toEqual([true, false]);
    expect(cut.tags.at(-1)?.end).toBeLessThan(LONG.length / 2);
    expect(whole.tags.at(-1)?.end).toBeGreaterThan(LONG.length - 20);
  });

  it('has of a list what each text has alone, and says which element is at fault', async () => {
    const list = [TEXT, LONG, '', ' '];
    const { json } = await ask('/tag/batch', { texts: list, stride: 2 });
    const alone = await Promise.all(list.map((text) => tagged({ text, stride: 2 })));
    expect(json).toEqual({ results: alone });
    expect(await ask('/tag/batch', { texts: ['a', 7] })).toMatchObject({
      status: 422,
      json: { detail: 'texts[1]: expected a string' },
    });
    expect(await ask('/tag/batch', { texts: Array(9).fill('a') })).toMatchObject({ status: 413 });
  });

  it.each([
    [{ text: 'a', aggregation_strategy: 'most' }, /^aggregation_strategy: expected one of "none",/],
    [{ text: 'a', ignore_labels: 'O' }, /^ignore_labels: expected an array of strings/],
    [{ text: 'a', stride: -1 }, /^stride: expected at least 0/],
    [
      { text: 'a', stride: 38 },
      /^stride: 38 tokens, expected fewer than the 38 text tokens of a window/,
    ],
    [{}, /^text: is required/],
  ])('refuses %j', async (body, detail) => {
    expect(await ask('/tag', body)).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(detail) },
    });
  });
});

describe('the token-classification task of Hugging Face', () => {
  it('tells the spans of the pipeline, with offsets in code points', async () => {
    for (const { text, strategy, stride, spans } of rows) {
      const parameters = {
        aggregation_strategy: strategy,
        ...(stride !== undefined && { stride, ignore_labels: ['LOC'] }),
      };
      const { json } = await ask('', { inputs: texts[text], parameters });
      const name = strategy === 'none' ? 'entity' : 'entity_group';
      expect(json).toEqual(
        spans.map(([label, score, word, start, end, index]) => ({
          [name]: label,
          score: expect.closeTo(score, 4),
          word,
          start,
          end,
          ...(index !== null && { index }),
        })),
      );
    }
  });

  it('answers a list with a list, with simple spans where nothing is asked for', async () => {
    const inputs = [texts[2], texts[5]];
    const { json } = await ask('', { inputs });
    const alone = inputs.map(async (text) => (await ask('', { inputs: text })).json);
    expect(json).toEqual(await Promise.all(alone));
    expect(Object.keys((json as readonly object[][])[0]?.[0] ?? {})).toContain('entity_group');
  });
});

it('has logits and places over Open Inference', async () => {
  const data = [TEXT, 'film'];
  const { json, status } = await post(service, '/v2/models/tagger/infer', {
    inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [2], data }],
  });
  expect(status).toBe(200);
  const { outputs } = json as {
    readonly outputs: readonly { name: string; shape: number[]; data: number[] }[];
  };
  const [logits, offsets, tokens] = outputs;
  expect(outputs.map(({ name }) => name)).toEqual(['LOGITS', 'OFFSETS', 'TOKENS']);
  const count = (tokens?.data[0] ?? 0) + (tokens?.data[1] ?? 0);
  expect([logits?.shape, offsets?.shape, tokens?.shape]).toEqual([[count, 6], [count, 2], [2]]);
  const points = [...TEXT].length;
  expect(offsets?.data.slice(0, 2)).toEqual([0, 1]);
  expect(offsets?.data[2 * (tokens?.data[0] ?? 0) - 1]).toBe(points);
  expect(offsets?.data.slice(-1)).toEqual([4]);
});

it('is what the client asks for', async () => {
  const client = new TagClient(`${service.origin}/models/tagger`);
  expect(await client.tag(TEXT)).toEqual(await tagged({ text: TEXT }));
  const options = { strategy: 'max', ignoreLabels: ['LOC'], stride: 3 } as const;
  const { json } = await ask('/tag/batch', {
    texts: [TEXT, LONG],
    aggregation_strategy: 'max',
    ignore_labels: ['LOC'],
    stride: 3,
  });
  expect({ results: await client.tagBatch([TEXT, LONG], options) }).toEqual(json);
  await expect(client.tag(TEXT, { stride: 99 })).rejects.toBeInstanceOf(ResponseError);
});

it('is documented', async () => {
  const { json } = await request(service, { path: '/openapi.json' });
  const { paths } = json as { readonly paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/tag', '/tag/batch', '/']));
});
