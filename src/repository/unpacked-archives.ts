import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileIdentity, fileSize, ModelFileError } from '../models/files';
import { unpackArchive } from './torchserve-archive';

interface UnpackedArchive {
  /** Name of the model. */
  readonly model: string;
  /** Identity of the archive file; differs after a change. */
  readonly identity: string;
  readonly folder: Promise<string>;
}

/** Unpacked archives of a model repository, each in a private temporary folder. */
export class UnpackedArchives {
  readonly #root: string;
  /** Unpacked archives by path. */
  readonly #unpacked = new Map<string, UnpackedArchive>();
  #count = 0;

  /** @param root absolute path of a missing folder, which is created for the first archive */
  constructor(root: string) {
    this.#root = root;
  }

  /** Unpacks an archive, unless it is unchanged. @returns folder of the content. @throws ModelFileError */
  async folderOf(archive: string, model: string): Promise<string> {
    fileSize(path.dirname(archive), path.basename(archive)); // Rejects links to outside of the folder.
    const identity = fileIdentity(archive);
    const previous = this.#unpacked.get(archive);
    if (previous?.identity === identity) return previous.folder;
    this.#remove(archive);
    const folder = this.#unpack(archive);
    this.#unpacked.set(archive, { model, identity, folder });
    try {
      return await folder;
    } catch (error) {
      this.#unpacked.delete(archive);
      throw error;
    }
  }

  /** Removes the content of the archives of a model, except for archives directly in the folders `kept`. */
  removeOf(model: string, kept: readonly string[] = []): void {
    for (const [archive, unpacked] of this.#unpacked) {
      if (unpacked.model === model && !kept.includes(path.dirname(archive))) this.#remove(archive);
    }
  }

  #remove(archive: string): void {
    const unpacked = this.#unpacked.get(archive);
    this.#unpacked.delete(archive);
    // A folder that cannot be removed now is removed at process exit.
    unpacked?.folder.then(remove).catch(() => undefined);
  }

  async #unpack(archive: string): Promise<string> {
    this.#makeRoot(path.basename(archive));
    const folder = path.join(this.#root, String(++this.#count));
    try {
      await unpackArchive(archive, folder);
      return folder;
    } catch (error) {
      remove(folder);
      throw error;
    }
  }

  #makeRoot(archive: string): void {
    try {
      mkdirSync(this.#root, { mode: 0o700 });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return; // Created for a previous archive.
      throw new ModelFileError(
        `${archive}: cannot be unpacked: the folder for temporary files cannot be written to ` +
          `(${code}). Set TMPDIR to a writable folder`,
      );
    }
  }
}

/** Absolute paths of the archives directly in a folder. */
export function listArchives(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.mar'))
    .map((name) => path.join(folder, name));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
