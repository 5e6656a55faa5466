/** Archives of TorchServe in a directory of models. */
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MANIFEST, manifest, type Parts, writeArchive } from '../helpers/archive';
import { post, request } from '../helpers/http';
import { type DescribedModel, ModelsDirectory, modelsOf } from '../helpers/models-directory';
import { EEG_MODEL, FIXTURES, killAll, type Service, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const TEXT = { text: 'A warm, funny film.' };
const TEXT_FOLDER = path.join(FIXTURES, 'models/torchscript-traced-bert');
const LABELS = { 0: 'calm', 1: ['n01', 'awake'], 2: 'asleep' };

const signal = readFileSync(EEG_MODEL);
const served = (more: object = {}): object =>
  manifest({ serializedFile: 'waves.pt', handler: 'image_classifier', ...more });

const unpackedFolders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('libtorch-serve-'));

describe('archives', () => {
  const directory = new ModelsDirectory();
  const archive = (place: string, parts: Parts, edit?: (bytes: Buffer) => Buffer): Promise<void> =>
    writeArchive(path.join(directory.path, place), parts, edit);
  const before = unpackedFolders();
  let service: Service;
  let models: readonly DescribedModel[];

  const reasonOf = (name: string): string | null | undefined =>
    models.find((model) => model.name === name)?.reason;

  beforeAll(async () => {
    const good = { [MANIFEST]: served(), 'waves.pt': signal, 'index_to_name.json': LABELS };
    await archive('waves/waves.mar', { ...good, 'notes.py': 'raise SystemExit' });
    await archive('versions/2/anything.mar', good);
    await archive('texts/texts.mar', {
      [MANIFEST]: manifest({ serializedFile: 'traced.pt', handler: 'text_classifier' }),
      ...textParts(),
      'model.safetensors': 'not what the manifest names',
    });
    await archive('handler/a.mar', {
      ...good,
      [MANIFEST]: served({ handler: 'my_handler.py:handle' }),
      'my_handler.py': 'raise SystemExit',
    });
    await archive('eager/a.mar', {
      ...good,
      [MANIFEST]: served({ modelFile: 'net.py' }),
    });
    await archive('no-manifest/a.mar', { 'waves.pt': signal });
    await archive('no-model/a.mar', { [MANIFEST]: served() });
    await archive('gap/a.mar', { ...good, 'index_to_name.json': { 0: 'a', 2: 'c' } });
    await archive('two/a.mar', good);
    await archive('two/b.mar', good);
    await archive('link/a.mar', {
      ...good,
      'waves.pt': { content: '/etc/passwd', mode: 0o120777 },
    });
    await archive('bomb/a.mar', { ...good, 'zeros.bin': Buffer.alloc(2 ** 27) });
    await archive('climbs/a.mar', { ...good, 'aa/aa/climbed.pt': 'x' }, (bytes) =>
      Buffer.from(bytes.toString('latin1').replaceAll('aa/aa/', '../../'), 'latin1'),
    );
    const lies = { ...good, 'index_to_name.json': `{"0": "${'a'.repeat(2 ** 20)}"}` };
    await archive('lies/a.mar', lies, (bytes) => {
      const real = Buffer.alloc(4);
      real.writeUInt32LE((2 ** 20 + 9) >>> 0);
      const small = Buffer.from([9, 0, 0, 0]);
      return Buffer.from(
        bytes.toString('latin1').replaceAll(real.toString('latin1'), small.toString('latin1')),
        'latin1',
      );
    });
    await archive('cut/a.mar', good, (bytes) => bytes.subarray(0, bytes.length / 2));
    service = await directory.start();
    models = await modelsOf(service);
  });

  afterAll(async () => {
    await killAll();
    directory.folder.remove();
  });

  it('loads a signal model with the labels of index_to_name.json', async () => {
    for (const address of ['/models/waves', '/models/versions/versions/2']) {
      const info = await request(service, { path: `${address}/info` });
      expect(info.json).toMatchObject({ model: { classes: ['calm', 'awake', 'asleep'] } });
      const { status, json } = await post(service, `${address}/predict`, { signal: SIGNAL });
      expect(status).toBe(200);
      const { diagnosis } = json as { readonly diagnosis: string };
      expect(['calm', 'awake', 'asleep']).toContain(diagnosis);
    }
  });

  it('loads a text model that brings the files of its folder', async () => {
    const { status, text } = await post(service, '/models/texts/analyze', TEXT);
    const alone = await startService('sentiment', { env: { SENTIMENT_MODEL_DIR: TEXT_FOLDER } });
    expect([status, text]).toEqual([200, (await post(alone, '/analyze', TEXT)).text]);
  });

  it.each([
    ['handler', /model\.handler: "my_handler\.py:handle" is not supported, .*: export the model/],
    ['eager', /model\.modelFile: "net\.py" is Python, none is run: export the model/],
    ['no-manifest', /^a\.mar: .*MANIFEST\.json: not found$/],
    ['no-model', /^a\.mar: "waves\.pt": not found$/],
    ['gap', /index_to_name\.json: 1: has no name$/],
    ['two', /^expected one model, found a\.mar, b\.mar$/],
    ['link', /^a\.mar: "waves\.pt": is a link, or no regular file$/],
    ['bomb', /^a\.mar: unpacks to more than 20 times its \d+ bytes$/],
    ['climbs', /^a\.mar: cannot be unpacked: .*invalid relative path/],
    ['lies', /^a\.mar: cannot be unpacked: too many bytes in the stream/],
    ['cut', /^a\.mar: cannot be unpacked: /],
  ])('refuses %s', (name, reason) => {
    expect(reasonOf(name)).toMatch(reason);
  });

  it('removes what it had unpacked with a model, and all of it at the end', async () => {
    const [root] = unpackedFolders().filter((name) => !before.includes(name));
    const folder = path.join(tmpdir(), root as string);
    const count = readdirSync(folder).length;
    const unload = '/v2/repository/models/waves/unload';
    expect((await request(service, { method: 'POST', path: unload })).status).toBe(200);
    expect(readdirSync(folder)).toHaveLength(count - 1);
    await service.stop();
    expect(unpackedFolders()).not.toContain(root);
  });
});

it('says where it unpacks when nothing can be written there', async () => {
  const directory = new ModelsDirectory();
  await writeArchive(path.join(directory.path, 'waves/a.mar'), {
    [MANIFEST]: served(),
    'waves.pt': signal,
  });
  const service = await directory.start({ env: { TMPDIR: '/proc' } });
  expect((await modelsOf(service))[0]?.reason).toMatch(
    /^a\.mar: cannot be unpacked: the folder for temporary files .*TMPDIR to a writable folder$/,
  );
  await service.stop();
  directory.folder.remove();
});

function textParts(): Parts {
  const names = readdirSync(TEXT_FOLDER).filter((name) => name !== 'model.pt');
  return Object.fromEntries([
    ...names.map((name) => [name, readFileSync(path.join(TEXT_FOLDER, name))]),
    ['traced.pt', readFileSync(path.join(TEXT_FOLDER, 'model.pt'))],
  ]);
}
