import { execFileSync } from 'node:child_process';
import { ROOT } from './service';

const SCRIPT = `
import { readFileSync, writeSync } from 'node:fs';
import { Zstd } from '@hpcc-js/wasm-zstd';
const zstd = await Zstd.load();
writeSync(1, zstd.compress(readFileSync(0)));
`;

/** Compresses with the zstd library, in a process of its own: jest loads no module of WebAssembly. */
export function zstdSync(bytes: Buffer): Buffer {
  const args = ['--input-type=module', '-e', SCRIPT];
  return execFileSync(process.execPath, args, { cwd: ROOT, input: bytes });
}
