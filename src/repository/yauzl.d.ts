// What of yauzl 3.4 is used here; the package has no types of its own.
declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  interface Entry {
    readonly fileName: string;
    /** Bytes, as the archive says; more or fewer are an error while they are read. */
    readonly uncompressedSize: number;
    readonly compressionMethod: number;
    /** With the mode of Unix in the upper half. */
    readonly externalFileAttributes: number;
  }

  interface ZipFile {
    readonly entryCount: number;
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
    close(): void;
  }

  export function openPromise(
    path: string,
    options: { readonly autoClose: boolean; readonly strictFileNames: boolean },
  ): Promise<ZipFile>;
}
