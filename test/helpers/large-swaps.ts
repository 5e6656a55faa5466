import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { post, request } from './http';
import { writeLargeModel } from './large-model';
import { newDirectory } from './models-directory';
import { deletedMaps, figuresOf, weightMaps } from './process-figures';
import type { Service } from './service';

/** A model of 150 MB: one that is kept is more than everything else together. */
const LAYERS = 2;
const NAME = 'large';
/** Before memory is measured: V8 and malloc take their working sets once. */
const SWAPS_BEFORE = 3;
const TEXT = { text: 'A warm, funny film.' };

export async function askRepository(
  service: Service,
  name: string,
  what: 'load' | 'unload',
): Promise<void> {
  const place = `/v2/repository/models/${name}/${what}`;
  const { status, text } = await request(service, { method: 'POST', path: place });
  expect([what, status, text]).toEqual([what, 200, '{}']);
}

/** Ways for a model to leave memory, and for one of its name to come. */
const SWAPS = {
  'unloaded and loaded from the same files': async (service: Service) => {
    await askRepository(service, NAME, 'unload');
    await askRepository(service, NAME, 'load');
  },
  'replaced by other files': async (service: Service, folder: string) => {
    writeLargeModel(`${folder}.new`, LAYERS);
    renameSync(folder, `${folder}.old`);
    renameSync(`${folder}.new`, folder);
    rmSync(`${folder}.old`, { recursive: true });
    await askRepository(service, NAME, 'load');
  },
} as const;

export const WAYS = Object.keys(SWAPS) as (keyof typeof SWAPS)[];

/**
 * Swaps a large model again and again, and expects after each swap that nothing of the one before is mapped.
 *
 * @returns resident memory in MB that was added by then, after each swap
 */
export async function swapLarge(way: keyof typeof SWAPS, swaps: number): Promise<number[]> {
  const directory = newDirectory();
  const folder = path.join(directory.path, NAME);
  writeLargeModel(folder, LAYERS);
  const service = await directory.start();
  const pid = service.child.pid as number;
  const swapAndAsk = async () => {
    await SWAPS[way](service, folder);
    expect((await post(service, `/models/${NAME}/analyze`, TEXT)).status).toBe(200);
    expect(weightMaps(pid)).toHaveLength(1);
    expect(deletedMaps(pid)).toEqual([]);
  };
  for (let turn = 0; turn < SWAPS_BEFORE; turn++) await swapAndAsk();
  const before = figuresOf(pid).residentMb;
  const added: number[] = [];
  for (let turn = 0; turn < swaps; turn++) {
    await swapAndAsk();
    added.push(figuresOf(pid).residentMb - before);
  }
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  return added;
}
