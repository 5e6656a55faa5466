/** Folders that the benchmarks share. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const BENCH = path.dirname(fileURLToPath(import.meta.url));
export const ROOT = path.resolve(BENCH, '..');
export const PEERS = path.join(BENCH, 'peers');
export const MODELS = path.join(ROOT, 'models');
/** What is made and not committed. */
export const BUILD = path.join(ROOT, 'build/bench');
/** The shipped sentiment model, exported for node-ort. */
export const ONNX_MODEL = path.join(BUILD, 'onnx/sentiment');
