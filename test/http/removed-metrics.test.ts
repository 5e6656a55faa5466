/** Series of what has been removed end: models that come and go do not make /metrics longer. */
import { post, request } from '../helpers/http';
import { type Scrape, scrape, untilScraped } from '../helpers/metrics';
import { FIRST, newDirectory, removeDirectories } from '../helpers/models-directory';
import type { Service } from '../helpers/service';
import { until } from '../helpers/until';

const MODELS = 30;
const TEXT = { text: 'A warm, funny film.' };

afterAll(removeDirectories);

const repository = async (service: Service, name: string, what: 'load' | 'unload') => {
  const place = `/v2/repository/models/${name}/${what}`;
  expect((await request(service, { method: 'POST', path: place })).status).toBe(200);
};

const naming = (seen: Scrape, name: RegExp): readonly string[] =>
  seen.text.split('\n').filter((line) => name.test(line));

it(`keeps no series of ${MODELS} models that have come and gone`, async () => {
  const directory = newDirectory();
  directory.text('stays', FIRST);
  const service = await directory.start();
  const comeAndGo = async (name: string) => {
    directory.text(name, FIRST);
    await repository(service, name, 'load');
    for (const place of [`/models/${name}`, `/models/${name}/versions/1`]) {
      expect((await post(service, `${place}/analyze`, TEXT)).status).toBe(200);
    }
    expect((await post(service, `/predictions/${name}`, TEXT)).status).toBe(200);
    expect(naming(await scrape(service), new RegExp(`\\b${name}\\b`))).not.toEqual([]);
    await repository(service, name, 'unload');
    directory.remove(name);
  };
  await comeAndGo('first');
  const before = await scrape(service);
  for (let turn = 0; turn < MODELS; turn++) await comeAndGo(`model-${turn}`);
  const after = await scrape(service);
  expect(naming(after, /\b(first|model-\d+)\b/)).toEqual([]);
  const nameOf = ({ name, labels }: Scrape['samples'][number]) => JSON.stringify([name, labels]);
  expect(new Set(after.samples.map(nameOf))).toEqual(new Set(before.samples.map(nameOf)));
});

it('counts a model from 0 when it comes back, and requests that end after their model as removed', async () => {
  const directory = newDirectory();
  directory.text('tagger', '../tagging/bert');
  const service = await directory.start();
  const route = '/models/tagger/tag';
  const requests = async () => (await scrape(service)).requests;
  for (let i = 0; i < 3; i++) expect((await post(service, route, TEXT)).status).toBe(200);
  expect(await requests()).toMatchObject({ [`${route} 200`]: 3 });
  // Read in hundreds of windows.
  const body = { text: 'The film is good, Berlin. '.repeat(1000), stride: 2 };
  const long = post(service, route, body);
  await untilScraped('the first windows', service, (seen) => {
    const labels = { model: 'tagger', version: '1' };
    return (seen.value('libtorch_serve_batches_total', labels) ?? 0) > 4;
  });
  await repository(service, 'tagger', 'unload');
  expect((await long).status).toBe(200);
  await until('the long one is counted', async () => (await requests())['removed 200'] === 1);
  expect(Object.keys(await requests()).filter((one) => one.includes('tagger'))).toEqual([]);
  await repository(service, 'tagger', 'load');
  expect((await post(service, route, TEXT)).status).toBe(200);
  expect(await requests()).toMatchObject({ [`${route} 200`]: 1, 'removed 200': 1 });
});

it('keeps no series of checks that the file of the guard has no more', async () => {
  const directory = newDirectory();
  const show = (name: string) =>
    directory.write(
      'guard.json',
      JSON.stringify({ checks: [{ type: 'patterns', name, action: 'redact', kinds: ['email'] }] }),
    );
  show('check-0');
  const service = await directory.start();
  const checksOf = async () => {
    await post(service, '/guard', TEXT);
    const { samples } = await scrape(service);
    const counted = samples.filter(({ name }) => name === 'libtorch_serve_guard_checks_total');
    return [...new Set(counted.map(({ labels }) => labels.check))];
  };
  for (let turn = 0; turn < 5; turn++) {
    await until(`check ${turn}`, async () => (await checksOf()).includes(`check-${turn}`));
    expect(await checksOf()).toEqual([`check-${turn}`]);
    show(`check-${turn + 1}`);
    service.child.kill('SIGHUP');
  }
});
