import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SchedulingOptions } from '../../native/engine';
import {
  type ArchiveReport,
  readArchive,
  unpackArchive,
} from '../../repository/torchserve-archive';
import { TASKS } from '../../tasks/registry';
import { inspectModel, type ModelReport } from './inspect-model';

/** An archive of TorchServe, and the model in it. */
export interface InspectedArchive {
  /** Of the file. */
  readonly name: string;
  readonly archive: ArchiveReport;
  /** Null: there is none that could be loaded here. */
  readonly model: ModelReport | null;
  /** Why it cannot be served; null: it can. */
  readonly problem: string | null;
}

/**
 * Looks into an archive, then loads its model as a directory of models would.
 *
 * @throws ModelFileError for what cannot even be read
 */
export async function inspectArchive(
  file: string,
  scheduling: SchedulingOptions,
): Promise<InspectedArchive> {
  const name = path.basename(file);
  const archive = await readArchive(file);
  const home = mkdtempSync(path.join(tmpdir(), 'libtorch-serve-inspect-'));
  try {
    const folder = path.join(home, 'model');
    await unpackArchive(file, folder);
    const [place = folder] = TASKS.flatMap((task) => task.findModelPaths(folder));
    const model = await inspectModel(place, scheduling);
    return { name, archive, model, problem: model.problem };
  } catch (error) {
    return { name, archive, model: null, problem: (error as Error).message };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
