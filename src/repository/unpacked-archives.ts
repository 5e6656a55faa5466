import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileIdentity, fileSize, ModelFileError } from '../models/files';
import { unpackArchive } from './torchserve-archive';

interface Unpacked {
  /** Of the archive; another one: it has changed. */
  readonly identity: string;
  readonly folder: Promise<string>;
}

/** Archives of the directory of models that are unpacked, each into a private folder of its own. */
export class UnpackedArchives {
  readonly #root: string;
  /** By path of the archive. */
  readonly #unpacked = new Map<string, Unpacked>();
  #count = 0;

  /** @param root an absolute path at which nothing is; it is made for the first archive */
  constructor(root: string) {
    this.#root = root;
  }

  /** The folder that an archive is unpacked into; it stays until the archive is another. @throws ModelFileError */
  async folderOf(archive: string): Promise<string> {
    fileSize(path.dirname(archive), path.basename(archive)); // it is a file, and no link that leads out
    const identity = fileIdentity(archive);
    const known = this.#unpacked.get(archive);
    if (known?.identity === identity) return known.folder;
    this.#forget(archive);
    const folder = this.#unpack(archive);
    this.#unpacked.set(archive, { identity, folder });
    try {
      return await folder;
    } catch (error) {
      this.#unpacked.delete(archive);
      throw error;
    }
  }

  /** Removes what archives below a folder were unpacked into, but for those right in the folders of `kept`. */
  removeBelow(folder: string, kept: readonly string[]): void {
    for (const archive of this.#unpacked.keys()) {
      if (archive.startsWith(folder + path.sep) && !kept.includes(path.dirname(archive)))
        this.#forget(archive);
    }
  }

  #forget(archive: string): void {
    const known = this.#unpacked.get(archive);
    this.#unpacked.delete(archive);
    // What cannot be removed now is tried once more when the process ends.
    known?.folder.then(remove).catch(() => undefined);
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
      if (code === 'EEXIST') return; // by an archive before
      throw new ModelFileError(
        `${archive}: cannot be unpacked: the folder for temporary files cannot be written to ` +
          `(${code}): mount one there, or name one in TMPDIR`,
      );
    }
  }
}

/** Absolute paths of the archives right in a folder. */
export function listArchives(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.mar'))
    .map((name) => path.join(folder, name));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
