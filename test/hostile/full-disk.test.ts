/** Disks that fill while models are unpacked, copied and loaded. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MANIFEST, manifest, writeArchive } from '../helpers/archive';
import { type Answer, post, request } from '../helpers/http';
import { FIRST, modelOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { EEG_MODEL, FIXTURES, type Service } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

/** Of the disk, in bytes. */
const SIZE = 2 ** 20;
const WEIGHTS = path.join(FIXTURES, 'models', FIRST, 'model.safetensors');
const TEXT = { text: 'A warm, funny film.' };

afterAll(removeDirectories);

needs('mount').describe('a disk that is full', () => {
  const directory = newDirectory();
  const disk = path.join(directory.path, '.disk');
  let service: Service;
  /** The disk, which is mounted for the service alone. */
  let seen: string;
  let before: Answer;

  const load = (name: string): Promise<Answer> =>
    request(service, { method: 'POST', path: `/v2/repository/models/${name}/load` });
  const fill = (): void => {
    const piece = Buffer.alloc(4096);
    for (let i = 0; ; i++) {
      try {
        writeFileSync(path.join(seen, `filler-${i}`), piece);
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
        return;
      }
    }
  };
  const free = (): void => {
    for (const name of readdirSync(seen)) {
      if (name.startsWith('filler-')) rmSync(path.join(seen, name));
    }
  };
  const servesOn = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      const { status, text } = await post(service, '/models/films/analyze', TEXT);
      expect([status, text]).toEqual([200, before.text]);
    }
  };

  beforeAll(async () => {
    directory.text('films', FIRST);
    mkdirSync(disk);
    service = await directory.start({
      program: 'unshare',
      nodeArgs: [
        ...['-rm', 'bash', '-c'],
        `mount -t tmpfs -o size=${SIZE} tmpfs '${disk}' && exec "$0" "$@"`,
        process.execPath,
      ],
      env: { TMPDIR: disk },
    });
    seen = path.join(`/proc/${service.child.pid}/root`, disk);
    before = await post(service, '/models/films/analyze', TEXT);
  });

  it('leaves what serves where an archive cannot be unpacked, and says why', async () => {
    fill();
    await writeArchive(path.join(directory.path, 'waves/waves.mar'), {
      [MANIFEST]: manifest({ serializedFile: 'waves.pt', handler: 'image_classifier' }),
      'waves.pt': readFileSync(EEG_MODEL),
    });
    const { status, json } = await load('waves');
    expect([status, json]).toEqual([
      400,
      { error: '"waves", version 1: waves.mar: cannot be unpacked: ENOSPC' },
    ]);
    expect((await modelOf(service, 'waves'))?.reason).toBe('waves.mar: cannot be unpacked: ENOSPC');
    await servesOn();

    free();
    // Nothing is left of it.
    const folders = readdirSync(seen).filter((name) => name.startsWith('libtorch-serve-'));
    expect(folders.flatMap((name) => readdirSync(path.join(seen, name)))).toEqual([]);
    expect((await load('waves')).status).toBe(200);
    const answer = await post(service, '/models/waves/predict', { signal: SIGNAL });
    expect(answer.status).toBe(200);
  });

  it('goes on with the version before where a new one was not copied whole', async () => {
    fill();
    const weights = readFileSync(WEIGHTS);
    for (let i = 0; i < 16; i++) rmSync(path.join(seen, `filler-${i}`));
    const cut = path.join(seen, 'model.safetensors');
    expect(() => writeFileSync(cut, weights)).toThrow('ENOSPC');
    const copied = readFileSync(cut);
    expect(copied.length).toBeLessThan(weights.length);
    directory.remove('films/model.safetensors');
    writeFileSync(path.join(directory.path, 'films/model.safetensors'), copied);
    const { status, json } = await load('films');
    expect([status, (json as { error: string }).error]).toEqual([
      400,
      expect.stringMatching(/^"films", version 1: model\.safetensors: truncated or damaged/),
    ]);
    expect(await modelOf(service, 'films')).toMatchObject({
      serving: '1',
      versions: [{ state: 'ready', reason: expect.stringContaining('truncated or damaged') }],
    });
    await servesOn();
    writeFileSync(path.join(directory.path, 'films/model.safetensors'), weights);
    expect((await load('films')).status).toBe(200);
    await servesOn();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});
