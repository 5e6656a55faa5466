/** A directory of models that cannot be read at the start: a volume that is mounted later. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { request } from '../helpers/http';
import {
  FIRST,
  modelOf,
  newDirectory,
  removeDirectories,
  SECOND,
  untilModel,
} from '../helpers/models-directory';
import { skipWhere } from '../helpers/needs';
import { type Service, startService } from '../helpers/service';
import { expectError } from '../helpers/services';
import { until } from '../helpers/until';

afterAll(removeDirectories);

const isReady = async (service: Service): Promise<boolean> =>
  (await request(service, { path: '/ready' })).status === 200;

const untilReady = (service: Service): Promise<true> =>
  until('/ready is 200', async () => await isReady(service));

/** What there is in the place of the directory, and how it goes away. */
const KINDS = {
  nothing: { put: () => {}, take: () => {}, code: 'ENOENT' },
  'a file': {
    put: (place: string) => writeFileSync(place, 'x'),
    take: (place: string) => rmSync(place),
    code: 'ENOTDIR',
  },
  'a dangling link': {
    put: (place: string) => symlinkSync(`${place}-of-the-volume`, place),
    take: (place: string) => rmSync(place),
    code: 'ENOENT',
  },
  'a link to itself': {
    put: (place: string) => symlinkSync(place, place),
    take: (place: string) => rmSync(place),
    code: 'ELOOP',
  },
} as const;

describe.each(Object.entries(KINDS))('%s at the start', (_, { put, take, code }) => {
  it.each(['true', 'false'])('is no directory without models, MODELS_WATCH=%s', async (watch) => {
    const source = newDirectory();
    source.text('volume/films', FIRST);
    const place = path.join(source.path, 'models');
    put(place);
    const service = await startService('models', { args: [place], env: { MODELS_WATCH: watch } });
    const line = await service.waitForLog(({ level }) => level === 'error');
    expect(line.msg).toBe(`MODELS_DIR: cannot be read: ${code}`);
    const ready = await request(service, { path: '/ready' });
    expectError(ready, 503, `MODELS_DIR: cannot be read: ${code}`);
    expect((await request(service, { path: '/health' })).status).toBe(200);
    // Longer than it takes to try again.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await isReady(service)).toBe(false);
    expect(service.logs.filter(({ msg }) => msg === line.msg)).toHaveLength(1);
    expect(service.logs.map(({ msg }) => msg)).not.toContain('models loaded');
    take(place);
    renameSync(path.join(source.path, 'volume'), place);
    await untilReady(service);
    expect(await service.waitForLog(({ msg }) => msg === 'models loaded')).toMatchObject({
      models: 1,
    });
    expect((await modelOf(service, 'films'))?.serving).toBe('1');
    if (watch === 'true') {
      source.text('models/reviews', FIRST);
      await untilModel(service, 'reviews', 'is served', (one) => one?.serving === '1');
    }
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

/** Root may read every directory: then the service runs as a root who may not. */
const PROGRAM = 'setpriv';
const LIMITED = ['--bounding-set=-dac_override,-dac_read_search', process.execPath];
const isRoot = process.getuid?.() === 0;
const canBeLimited = spawnSync(PROGRAM, [...LIMITED, '--version']).status === 0;
const other = isRoot && !canBeLimited ? 'apt-get install util-linux, or test without root' : null;

skipWhere(other, 'a directory that may not be read').it(
  'a directory that the user of the service may not read is no directory without models',
  async () => {
    const directory = newDirectory();
    directory.text('films', FIRST);
    directory.text('private', SECOND);
    for (const place of ['', 'private']) chmodSync(path.join(directory.path, place), 0o000);
    const service = await startService('models', {
      args: [directory.path],
      env: { MODELS_WATCH: 'true' },
      ...(isRoot && { program: PROGRAM, nodeArgs: LIMITED }),
    });
    await service.waitForLog(({ msg }) => msg === 'MODELS_DIR: cannot be read: EACCES');
    expect(await isReady(service)).toBe(false);
    chmodSync(directory.path, 0o755);
    await untilReady(service);
    expect(await modelOf(service, 'films')).toMatchObject({ serving: '1', reason: null });
    expect((await modelOf(service, 'private'))?.reason).toContain('EACCES');
    chmodSync(path.join(directory.path, 'private'), 0o755);
    await untilModel(service, 'private', 'is served', (one) => one?.serving === '1');
  },
);

it('SIGHUP reads it, too, and is followed by watching', async () => {
  const source = newDirectory();
  const place = path.join(source.path, 'models');
  const service = await startService('models', { args: [place], env: { MODELS_WATCH: 'true' } });
  await service.waitForLog(({ level }) => level === 'error');
  mkdirSync(place);
  service.kill('SIGHUP');
  await untilReady(service);
  source.text('models/films', FIRST);
  await untilModel(service, 'films', 'is served', (one) => one?.serving === '1');
});

it('it may be a model itself', async () => {
  const source = newDirectory();
  source.text('volume', FIRST);
  const place = path.join(source.path, 'films');
  const service = await startService('models', { args: [place] });
  await service.waitForLog(({ level }) => level === 'error');
  renameSync(path.join(source.path, 'volume'), place);
  await untilReady(service);
  expect((await modelOf(service, 'films'))?.serving).toBe('1');
});

it('a folder that cannot be read hides no other, and stops no watching', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  const loop = path.join(directory.path, 'loop');
  symlinkSync(loop, loop);
  directory.text('odd', FIRST);
  symlinkSync('itself', path.join(directory.path, 'odd', 'itself'));
  const service = await directory.start({ env: { MODELS_WATCH: 'true' } });
  expect((await modelOf(service, 'films'))?.serving).toBe('1');
  expect((await modelOf(service, 'loop'))?.reason).toMatch(/cannot be read: ELOOP/);
  directory.text('reviews', FIRST);
  await untilModel(service, 'reviews', 'is served', (one) => one?.serving === '1');
  rmSync(loop);
  directory.text('loop', FIRST);
  await untilModel(service, 'loop', 'is served', (one) => one?.serving === '1');
});
