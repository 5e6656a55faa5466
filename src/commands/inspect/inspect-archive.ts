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

/** Report on a TorchServe archive and its model. */
export interface InspectedArchive {
  /** File name. */
  readonly name: string;
  readonly archive: ArchiveReport;
  /** Report on the model; null: the archive has no supported model. */
  readonly model: ModelReport | null;
  /** Load error; null: the model can be served. */
  readonly problem: string | null;
}

/**
 * Reads an archive and loads its model as a model repository does.
 *
 * @throws ModelFileError: the archive cannot be read
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
    const [modelPath = folder] = TASKS.flatMap((task) => task.findModelPaths(folder));
    const model = await inspectModel(modelPath, scheduling);
    return { name, archive, model, problem: model.problem };
  } catch (error) {
    return { name, archive, model: null, problem: (error as Error).message };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
