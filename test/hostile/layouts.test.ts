// Links that must go on working: those of the Hugging Face cache and of Kubernetes volumes.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { Loader } from './loader';

let loader: Loader;
let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'layouts-'));
});
afterEach(() => rmSync(temporary, { recursive: true }));
beforeAll(() => {
  loader = new Loader();
});
afterAll(() => loader.end());

/** Each file of `folder` becomes a link to where `move` has taken it. */
function link(folder: string, move: (name: string) => string): void {
  for (const name of readdirSync(folder)) {
    const place = path.join(folder, name);
    const to = move(name);
    renameSync(place, path.resolve(folder, to));
    symlinkSync(to, place);
  }
}

function copyTo(...parts: string[]): string {
  const folder = path.join(temporary, ...parts);
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(FIXTURES, 'models', 'roberta-vocab-json-sharded'), folder, { recursive: true });
  return folder;
}

async function expectLoads(place: string, service: 'sentiment' | 'eeg' = 'sentiment') {
  expect(await loader.load({ service, place })).toMatchObject({ error: null });
}

it('a snapshot of the Hugging Face cache', async () => {
  const snapshot = copyTo('models--me--it', 'snapshots', '0123abc');
  mkdirSync(path.join(temporary, 'models--me--it', 'blobs'));
  link(
    snapshot,
    (name) => `../../blobs/sha-of-${path.parse(name).name}${path.extname(name).slice(1)}`,
  );
  await expectLoads(snapshot);
});

it('a folder below a snapshot', async () => {
  const folder = copyTo('models--me--it', 'snapshots', '0123abc', 'sub');
  mkdirSync(path.join(temporary, 'models--me--it', 'blobs'));
  link(folder, (name) => `../../../blobs/${name}`);
  await expectLoads(folder);
});

it('a Kubernetes volume', async () => {
  const folder = copyTo('volume');
  const data = path.join(folder, '..2026_01_01');
  const names = readdirSync(folder);
  mkdirSync(data);
  symlinkSync('..2026_01_01', path.join(folder, '..data'));
  for (const name of names) {
    renameSync(path.join(folder, name), path.join(data, name));
    symlinkSync(`..data/${name}`, path.join(folder, name));
  }
  await expectLoads(folder);
});

it('a folder that is a link itself', async () => {
  copyTo('real');
  symlinkSync('real', path.join(temporary, 'model'));
  await expectLoads(path.join(temporary, 'model'));
});

it('links that nothing reads may lead anywhere, or nowhere', async () => {
  const folder = copyTo('model');
  symlinkSync('/etc/passwd', path.join(folder, 'training_args.bin'));
  symlinkSync('gone', path.join(folder, 'README.md'));
  await expectLoads(folder);
});

it('a signal model and its settings in a cache', async () => {
  const snapshot = path.join(temporary, 'models--me--eeg', 'snapshots', '0123abc');
  mkdirSync(snapshot, { recursive: true });
  mkdirSync(path.join(temporary, 'models--me--eeg', 'blobs'));
  const shipped = path.resolve(FIXTURES, '../../models/eeg');
  for (const name of ['eeg_model.pt', 'eeg_model.json']) {
    cpSync(path.join(shipped, name), path.join(snapshot, name));
  }
  link(snapshot, (name) => `../../blobs/${name}.blob`);
  await expectLoads(path.join(snapshot, 'eeg_model.pt'), 'eeg');
});
