import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder for the files of one test file, gone after it. */
export class Folder {
  readonly path = mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-test-'));

  /** Puts a file there at once, as a tool that rotates keys does; returns where it is. */
  put(name: string, content: string | Buffer, mode = 0o600): string {
    const place = path.join(this.path, name);
    writeFileSync(`${place}.new`, content);
    chmodSync(`${place}.new`, mode);
    renameSync(`${place}.new`, place);
    return place;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
