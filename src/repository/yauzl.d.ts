// Types of the used parts of yauzl 3.4, which has no types.
declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  interface Entry {
    readonly fileName: string;
    /** Size in bytes in the zip directory; a different size is a read error. */
    readonly uncompressedSize: number;
    readonly compressionMethod: number;
    /** Unix file mode in the upper 16 bits. */
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
