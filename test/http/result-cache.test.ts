/** RESULT_CACHE_MB: equal texts are answered by the same bits, without a run, until their model goes. */
import { post } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { FIRST, newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const ON = { RESULT_CACHE_MB: '4' };
/** Tokens are compared, so what the tokenizer leaves out makes no difference. */
const TEXT = 'A warm, funny film.';
const SAME_TOKENS = '  A  warm, funny\nfilm. ';

afterAll(async () => {
  await killAll();
  removeDirectories();
});

const analyze = (service: Service, text: string, at = '') =>
  post(service, `${at}/analyze`, { text });

async function countsOf(service: Service, labels: Readonly<Record<string, string>> = {}) {
  const seen = await scrape(service);
  const value = (name: string) => seen.value(`libtorch_serve_${name}`, labels);
  return {
    hits: value('result_cache_hits_total'),
    misses: value('result_cache_misses_total'),
    runs: value('batches_total'),
    bytes: value('result_cache_bytes'),
  };
}

it('answers equal tokens by the same bits without a run', async () => {
  const [kept, off] = await Promise.all([
    startService('sentiment', { env: { ...textModel('bert-single-label'), ...ON } }),
    startService('sentiment', { env: textModel('bert-single-label') }),
  ]);
  const { input_text, ...expected } = (await analyze(off, TEXT)).json as Record<string, unknown>;
  expect(input_text).toBe(TEXT);
  const runs = (await countsOf(kept)).runs ?? 0;
  for (const text of [TEXT, TEXT, SAME_TOKENS, TEXT]) {
    const { status, json } = await analyze(kept, text);
    expect([status, json]).toEqual([200, { input_text: text, ...expected }]);
  }
  const other = await analyze(kept, 'A warm, funny film!');
  expect(other.text).toBe((await analyze(off, 'A warm, funny film!')).text);
  expect(await countsOf(kept)).toEqual({
    hits: 3,
    misses: 2,
    runs: runs + 2,
    bytes: expect.any(Number),
  });
  for (let i = 0; i < 3; i++) await analyze(off, TEXT);
  expect(await countsOf(off)).toMatchObject({ hits: 0, misses: 0, bytes: 0 });
});

it('computes what a list says again and again once', async () => {
  const service = await startService('sentiment', {
    env: { ...textModel('bert-single-label'), ...ON },
  });
  const texts = Array.from({ length: 300 }, (_, i) => `text ${i % 3}`);
  const lists = await Promise.all(
    Array.from({ length: 4 }, () => post(service, '/analyze/batch', { texts })),
  );
  const [first, ...others] = lists.map(
    ({ json }) => (json as { results: readonly object[] }).results,
  );
  expect(first).toHaveLength(texts.length);
  expect(new Set(first?.map((answer) => JSON.stringify(answer))).size).toBeLessThanOrEqual(3);
  for (const results of others) expect(results).toEqual(first);
  const { hits = 0, misses } = await countsOf(service);
  expect({ all: hits + (misses ?? 0), misses }).toEqual({ all: 4 * texts.length, misses: 3 });
});

it('an exchanged model answers for itself', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  const service = await directory.start({ env: ON });
  const reload = () => post(service, '/v2/repository/models/films/load', {});
  const first = await analyze(service, TEXT, '/models/films');
  expect((await analyze(service, TEXT, '/models/films')).text).toBe(first.text);
  directory.text('films', SECOND);
  expect((await reload()).status).toBe(200);
  const second = await analyze(service, TEXT, '/models/films');
  expect(second.status).toBe(200);
  expect(second.text).not.toBe(first.text);
  const alone = await startService('sentiment', { env: textModel(SECOND) });
  expect(second.text).toBe((await analyze(alone, TEXT)).text);
  expect((await analyze(service, TEXT, '/models/films')).text).toBe(second.text);
});
