/** What is asked again is not computed again: by checks that ask one model the same, and with RESULT_CACHE_MB by requests. */
import path from 'node:path';
import { guardDirectory, TONE } from '../../helpers/guard-directory';
import { post } from '../../helpers/http';
import { scrape } from '../../helpers/metrics';
import { removeDirectories } from '../../helpers/models-directory';
import { FIXTURES, type Service } from '../../helpers/service';

const TEXT = 'A warm, funny film, and awful, a terrible waste of time.';
const TAGS = { type: 'token-classification', model: 'names', action: 'flag' } as const;
const MODELS = ['sentiment', 'names'];

afterAll(removeDirectories);

async function start(
  checks: readonly object[],
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const directory = guardDirectory({ checks });
  for (const name of [
    'config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'model.safetensors',
  ])
    directory.file(`names/${name}`, path.join(FIXTURES, 'tagging/bert', name));
  return directory.start({ env });
}

/** By the name of the model: texts that it took, batches that it ran, and what was answered without. */
async function countsOf(service: Service) {
  const seen = await scrape(service);
  return MODELS.map((model) => {
    const value = (name: string, labels: object = {}) =>
      seen.value(`libtorch_serve_${name}`, { model, version: '1', ...labels }) ?? 0;
    return {
      texts: value('inputs_total', { outcome: 'completed' }),
      runs: value('batches_total'),
      hits: value('result_cache_hits_total'),
    };
  });
}

const guard = (service: Service, body: object) =>
  post(service, '/guard', body).then(({ status, json }) => {
    expect(status).toBe(200);
    return json as { readonly action: string; readonly findings: readonly { check: string }[] };
  });

const WINDOWS = { ...TONE, labels: { NEGATIVE: 0 }, action: 'flag', long_texts: { window: 8 } };
const ALL = [
  { ...TONE, name: 'any', labels: { NEGATIVE: 0, POSITIVE: 0 }, action: 'flag' },
  { ...WINDOWS, name: 'windows' },
  { ...TAGS, name: 'all', labels: { PER: 0, LOC: 0 } },
];

it('checks of one model ask it once, and each has its own labels, thresholds and views', async () => {
  const alone = await start(ALL);
  const many = await start([
    { ...TONE, name: 'sure', labels: { NEGATIVE: 0.9 }, action: 'flag' },
    ...ALL,
    { ...TONE, name: 'plain', variants: [], labels: { POSITIVE: 0 }, action: 'flag' },
    { ...WINDOWS, name: 'other', long_texts: { window: 8, combine: 'mean' } },
    { ...TAGS, name: 'some', labels: { PER: 0 } },
  ]);
  const asked = async (service: Service) => {
    const before = await countsOf(service);
    const { findings } = await guard(service, { texts: [TEXT, 'A film.'] });
    const after = await countsOf(service);
    const texts = after.map((one, at) => one.texts - (before[at]?.texts ?? 0));
    const of = (check: string) => findings.filter((one) => one.check === check);
    return { texts, of };
  };
  const [few, more] = [await asked(alone), await asked(many)];
  expect(few.texts[1]).toBe(4); // two parts, and both together with and without a space between
  expect(more.texts).toEqual(few.texts);
  for (const check of ['any', 'windows', 'all']) expect(more.of(check)).toEqual(few.of(check));
  expect(more.of('any').length).toBeGreaterThan(more.of('sure').length);
  expect(more.of('all').length).toBeGreaterThan(more.of('some').length);
  expect(more.of('plain')).toHaveLength(2);
  expect(more.of('windows').length).toBeGreaterThan(more.of('other').length);
});

it('a request that comes again runs no model, and has the same answer', async () => {
  const service = await start(ALL, { RESULT_CACHE_MB: '4' });
  const body = { text: TEXT, scores: true };
  const first = await guard(service, body);
  const before = await countsOf(service);
  for (let i = 0; i < 3; i++) expect(await guard(service, body)).toEqual(first);
  const after = await countsOf(service);
  expect(after.map(({ runs }) => runs)).toEqual(before.map(({ runs }) => runs));
  // Of a text in windows they alone are kept: it is cut anew.
  const hits = after.map((one, at) => one.hits - (before[at]?.hits ?? 0));
  expect(hits[1]).toBe(3);
  expect(hits[0]).toBeGreaterThan(6);
  await guard(service, { ...body, text: `${TEXT} Not` });
  const other = await countsOf(service);
  expect(other.every(({ runs }, at) => runs > (after[at]?.runs ?? 0))).toBe(true);
});
