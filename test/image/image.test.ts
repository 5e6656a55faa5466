/**
 * The Dockerfile, built as it is, and its image. Run by `npm run test:image`, as root, with buildah and
 * debootstrap; packages of Debian, npm, Rust and Python come from the network. Many minutes and 8 GB of disk.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Container, type Image, startContainer } from '../helpers/container';
import { loadedSections } from '../helpers/elf';
import { post } from '../helpers/http';
import { makeBases } from '../helpers/image-bases';
import { ImageBuilder } from '../helpers/image-builder';
import { untilQueued } from '../helpers/metrics';
import { FIRST, ModelsDirectory, modelsOf } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { networkVariables } from '../helpers/network-settings';
import { FIXTURES, killAll, ROOT } from '../helpers/service';
import { setTestLimit } from '../helpers/until';

setTestLimit(3_600_000);

const { describe, it } = needs('buildah', 'debootstrap');

const MEGABYTE = 1e6;
const MOST_MEGABYTES = 650;
const LIBRARIES = 'app/build/native/Release';

let folder: string;
let builder: ImageBuilder;
let image: Image;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'image-'));
  builder = new ImageBuilder(folder);
  const npmrc = path.join(folder, 'npmrc');
  writeFileSync(npmrc, `registry=${networkVariables().npm_config_registry}\n`);
  await builder.build('libtorch-serve', makeBases(builder), { npmrc });
  image = { root: builder.mount('libtorch-serve'), config: builder.config('libtorch-serve') };
});
afterAll(async () => {
  await killAll();
  builder.remove();
});

interface File {
  /** Within the image. */
  readonly place: string;
  readonly size: number;
}

/** All files, links not followed. */
function filesOf(root: string): readonly File[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { place: path.relative(root, file), size: statSync(file).size };
    });
}

/** Megabytes by the first folders of a path, those over one. */
function sizesBy(files: readonly File[], depth: number): string {
  const sizes = new Map<string, number>();
  for (const { place, size } of files) {
    const key = place.split('/').slice(0, depth).join('/');
    sizes.set(key, (sizes.get(key) ?? 0) + size);
  }
  return [...sizes]
    .filter(([, size]) => size > MEGABYTE)
    .sort(([, a], [, b]) => b - a)
    .map(([key, size]) => `${(size / MEGABYTE).toFixed(1).padStart(8)}  ${key}\n`)
    .join('');
}

describe('the image', () => {
  it(`has at most ${MOST_MEGABYTES} MB`, () => {
    const files = filesOf(image.root);
    const total = files.reduce((sum, { size }) => sum + size, 0) / MEGABYTE;
    const app = files.filter(({ place }) => place.startsWith('app/'));
    const libraries = app.filter(({ place }) => place.startsWith(LIBRARIES));
    process.stderr.write(
      `${total.toFixed(1).padStart(8)}  in all\n${sizesBy(files, 1)}\n${sizesBy(app, 2)}\n${sizesBy(libraries, 5)}\n`,
    );
    expect(total).toBeLessThanOrEqual(MOST_MEGABYTES);
  });

  it('holds nothing to build with, and nothing of where it was built', () => {
    const tools =
      /^((.*-)?(cc|c\+\+|gcc|g\+\+|cpp|ld|as|ar|strip)(-[\d.]+)?|clang.*|cmake|make|ninja|cargo|rust.*|python[\d.]*|pip[\d.]*|npm|npx)$/;
    const places = filesOf(image.root).map(({ place }) => place);
    const programs = places.filter((place) => /(^|\/)s?bin\/[^/]+$/.test(place));
    expect(programs).toContain('usr/local/bin/node');
    expect(programs.filter((place) => tools.test(path.basename(place)))).toEqual([]);
    const unwanted =
      /\.(h|hpp|rs|ts|map|whl)$|(^|\/)(libpython|cc1)|\.npmrc$|pip\.conf$|(^|\/)\.(cargo|cache|npm)\//;
    expect(places.filter((place) => unwanted.test(place))).toEqual([]);
  });

  it('has the libraries of LibTorch as they were, but for what is never loaded', () => {
    const resolve = path.join(ROOT, 'scripts/libtorch/resolve.mjs');
    const libtorch = execFileSync(process.execPath, [resolve], { encoding: 'utf8' }).trim();
    const names = readdirSync(path.join(libtorch, 'lib'));
    expect(names).toContain('libtorch_cpu.so');
    for (const name of names) {
      const sections = loadedSections(path.join(image.root, LIBRARIES, name));
      expect(Object.keys(sections)).not.toEqual([]);
      expect(sections).toEqual(loadedSections(path.join(libtorch, 'lib', name)));
    }
  });

  it('says how it is run', () => {
    const { User, Entrypoint, Cmd, ExposedPorts, Env } = image.config;
    expect({ User, Entrypoint, Cmd, ExposedPorts }).toEqual({
      User: '1000:1000',
      Entrypoint: ['node', 'dist/main.js'],
      Cmd: ['sentiment'],
      ExposedPorts: { '8000/tcp': {} },
    });
    expect(Env.map((line) => line.split('=')[0]).sort()).toEqual([
      'EEG_MODEL_PATH',
      'NODE_ENV',
      'PATH',
    ]);
  });
});

/** What the image promises of the way it runs. */
async function expectConfined(container: Container): Promise<void> {
  const look = `const { readFileSync, writeFileSync } = require('fs');
    const status = readFileSync('/proc/1/status', 'utf8');
    const write = (file) => { try { writeFileSync(file, ''); return 'written'; } catch (e) { return e.code; } };
    console.log(JSON.stringify({
      command: readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0],
      ids: /^Uid:\\s+(.*)/m.exec(status)[1].split('\\t'),
      groups: /^Groups:[ \\t]*(.*)/m.exec(status)[1],
      rights: /^CapPrm:\\s+(.*)/m.exec(status)[1],
      wrote: ['/x', '/app/x', '/tmp/x', '/var/x'].map(write),
    }));`;
  for (const asRoot of [false, true]) {
    const [code, text] = await container.run(['node', '-e', look], { asRoot });
    expect({ code, ...(JSON.parse(text) as object) }).toEqual({
      code: 0,
      command: 'node',
      ids: ['1000', '1000', '1000', '1000'],
      groups: '',
      rights: '0000000000000000',
      wrote: ['EROFS', 'EROFS', 'EROFS', 'EROFS'],
    });
  }
}

function showMemory(what: string, container: Container): void {
  const [resident, own, file] = (['VmRSS', 'RssAnon', 'RssFile'] as const).map((name) =>
    (container.memory(name) / MEGABYTE).toFixed(0),
  );
  process.stderr.write(`${what}: ${resident} MB resident, ${own} own, ${file} of files\n`);
}

const SIGNAL = Array.from({ length: 256 }, (_, i) => Math.sin(i / 8));
const SERVICES = [
  ['sentiment', '/analyze', { text: 'A warm, funny film.' }, { label: 'POSITIVE' }],
  ['eeg', '/predict', { signal: SIGNAL, patient_id: 'P001' }, { patient_id: 'P001' }],
] as const;

describe.each(SERVICES)('%s, as PID 1, with nothing to write to', (name, route, body, expected) => {
  it('answers, is healthy, and answers what it has before it ends', async () => {
    // So that a request is on its way for certain when the signal comes.
    const env = { MAX_QUEUE_DELAY_MS: '2000' };
    const container = await startContainer(image, { args: [name], env });
    const answer = await post(container, route, body);
    expect(answer).toMatchObject({ status: 200, json: expected });
    showMemory(name, container);
    await expectConfined(container);
    expect(await container.checkHealth()).toBe(0);

    const last = post(container, route, body);
    await untilQueued(container, 1);
    expect(await container.stop()).toEqual({ code: 0, signal: null });
    expect((await last).json).toEqual(answer.json);
    expect(container.logs.at(-1)).toMatchObject({ msg: 'stopped' });
    expect(container.stderr).toBe('');
  });
});

describe('a model of a volume', () => {
  it('is served, a text model', async () => {
    const container = await startContainer(image, {
      volumes: { '/model': path.join(FIXTURES, 'models/bert-single-label') },
      env: { SENTIMENT_MODEL_DIR: '/model' },
    });
    const { id2label } = JSON.parse(
      (await container.run(['cat', '/model/config.json']))[1],
    ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
    const { status, json } = await post(container, '/analyze', { text: 'good' });
    expect(status).toBe(200);
    expect(Object.values(id2label ?? {})).toContain((json as { readonly label: string }).label);
    expect(Object.values(id2label ?? {})).not.toContain('POSITIVE');
    const [, said] = await container.run(['touch', '/model/x'], { asRoot: true });
    expect(said).toContain('Read-only file system');
    expect(await container.stop()).toEqual({ code: 0, signal: null });
  });

  it('is served, a signal model', async () => {
    const container = await startContainer(image, {
      args: ['eeg'],
      volumes: { '/model': path.join(FIXTURES, 'eeg') },
      env: { EEG_MODEL_PATH: '/model/plain-cnn-scripted.pt' },
    });
    const { status } = await post(container, '/predict', { signal: SIGNAL });
    expect(status).toBe(200);
    expect(await container.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a volume of models', () => {
  it('is served, each by its name', async () => {
    const directory = new ModelsDirectory();
    directory.text('films', FIRST);
    directory.signal('waves');
    chmodSync(directory.path, 0o755); // a folder for temporary files is its owner's; the container has another user
    const container = await startContainer(image, {
      args: ['models', '/models'],
      volumes: { '/models': directory.path },
      env: { MODELS_WATCH: 'true' },
    });
    await container.waitForLog(({ msg }) => msg === 'models loaded');
    const models = await modelsOf(container);
    expect(models.map(({ name, reason }) => [name, reason])).toEqual([
      ['films', null],
      ['waves', null],
    ]);
    const film = await post(container, '/models/films/analyze', { text: 'good' });
    const wave = await post(container, '/models/waves/predict', { signal: SIGNAL });
    expect([film.status, wave.status]).toEqual([200, 200]);
    expect(await container.checkHealth()).toBe(0);
    showMemory('models', container);
    expect(await container.stop()).toEqual({ code: 0, signal: null });
    expect(container.stderr).toBe('');
    directory.folder.remove();
  });
});

describe('the health check', () => {
  it('fails where nothing listens', async () => {
    const container = new Container(image, { entrypoint: ['sh', '-c', 'echo {} && cat'] });
    await container.waitForLog(() => true);
    expect(await container.checkHealth()).toBe(1);
    container.kill('SIGKILL');
    await container.exit;
  });
});
