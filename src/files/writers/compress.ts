import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Compression } from '../formats';

const gzipAsync = promisify(gzip);
/** Default level of zstd. */
const ZSTD_LEVEL = 3;

/** Compresses bytes to one gzip member or zstd frame. */
export async function compressWhole(bytes: Buffer, compression: Compression): Promise<Buffer> {
  if (compression === 'gzip') return gzipAsync(bytes);
  return compression === 'zstd' ? (await loadZstd())(bytes) : bytes;
}

/** Loads a zstd compressor in WebAssembly; Node.js 20 has none. */
export async function loadZstd(): Promise<(bytes: Uint8Array) => Buffer> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const zstd = await Zstd.load();
  return (bytes) => Buffer.from(zstd.compress(bytes, ZSTD_LEVEL));
}
