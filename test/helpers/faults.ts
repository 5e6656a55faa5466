import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './service';

const LIBRARY = path.join(ROOT, 'build', 'native', 'test', 'faults_preload.so');

/** Bytes of `Control` in native/test/faults_preload.cc, and where its fields are. */
const SIZE = 48;
const FAILING_ALLOCATION = 0;
const ALLOCATIONS = 8;
const FAILING_THREAD = 16;
const THREADS = 24;
const THREAD_NAME = 32;

/** Whose allocations fail: a thread of the engine, or the addon on the event loop. */
export type FaultyThread = 'inference' | 'tokenization' | 'event loop';

/** Builds what is put into a service; a second time takes seconds. For `beforeAll`. */
export function buildFaults(): void {
  const script = path.join(ROOT, 'scripts', 'build-native.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'faults_preload'], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}

/** Memory and threads that a service cannot have. */
export class Faults {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'faults-'));
  readonly #file: number;

  constructor() {
    const control = path.join(this.#folder, 'control');
    writeFileSync(control, Buffer.alloc(SIZE));
    this.#file = openSync(control, 'r+');
  }

  /** Of the service that is to have them. */
  get env(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: LIBRARY, FAULTS_CONTROL: path.join(this.#folder, 'control') };
  }

  /** The allocation `place` of those of the thread from now on fails, 1 being the next one. */
  failAllocation(thread: FaultyThread, place: number): void {
    this.#write(FAILING_ALLOCATION, 0);
    writeSync(this.#file, Buffer.from(thread.padEnd(16, '\0')), 0, 16, THREAD_NAME);
    this.#write(ALLOCATIONS, 0);
    this.#write(FAILING_ALLOCATION, place);
  }

  /** The thread `place` of those created from now on cannot be, 1 being the next one. */
  failThread(place: number): void {
    this.#write(FAILING_THREAD, 0);
    this.#write(THREADS, 0);
    this.#write(FAILING_THREAD, place);
  }

  /** Nothing fails any more. */
  disarm(): void {
    this.#write(FAILING_ALLOCATION, 0);
    this.#write(FAILING_THREAD, 0);
  }

  /** Since `failAllocation`. */
  get allocations(): number {
    return this.#read(ALLOCATIONS);
  }

  /** Since `failThread`. */
  get threads(): number {
    return this.#read(THREADS);
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true });
  }

  #write(offset: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(this.#file, bytes, 0, bytes.length, offset);
  }

  #read(offset: number): number {
    const bytes = Buffer.alloc(8);
    readSync(this.#file, bytes, 0, bytes.length, offset);
    return Number(bytes.readBigInt64LE());
  }
}
