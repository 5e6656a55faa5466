import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import { traced } from './trace';

const SCRIPT = path.join(__dirname, 'scripts', 'load.cjs');

/** A load and one answer, if it came to that. */
export interface Outcome {
  readonly answer: Readonly<Record<string, unknown>> | null;
  readonly error: string | null;
  /** MODEL_LOAD_FAILED, or that of the answer's error. */
  readonly code: string | null;
  readonly ms: number;
  /** Bytes that the process held at most. */
  readonly peak: number;
}

export interface Load {
  readonly service: 'sentiment' | 'eeg';
  /** The model's folder or file. */
  readonly place: string;
  readonly dtype?: 'bfloat16' | 'int8';
}

/** A process that loads models, one after the other. One that ends is replaced by the next load. */
export class Loader {
  readonly #trace: string | null;
  #child: ChildProcess | null = null;
  #lines: AsyncIterator<string> | null = null;
  #errors = '';
  /** Processes that were needed. */
  processes = 0;

  /** @param trace where to write what the process does with files; null: nowhere */
  constructor(trace: string | null = null) {
    this.#trace = trace;
  }

  /** @throws Error when the process ended, or did not come back within `patienceMs` */
  async load(request: Load, patienceMs = 60_000): Promise<Outcome> {
    const [child, lines] = this.#started();
    child.stdin?.write(`${JSON.stringify(request)}\n`);
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    const line = await lines.next();
    clearTimeout(timer);
    if (!line.done) return JSON.parse(line.value) as Outcome;
    this.#child = null;
    const how = child.signalCode ?? child.exitCode;
    throw new Error(`${request.place}: ended the process (${how}): ${this.#errors}`);
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.end();
    await ended;
  }

  #started(): [ChildProcess, AsyncIterator<string>] {
    if (this.#child && this.#lines) return [this.#child, this.#lines];
    this.processes += 1;
    this.#errors = '';
    const node = [process.execPath, SCRIPT];
    const [program = '', ...args] = this.#trace === null ? node : traced(this.#trace, node);
    const child = spawn(program, args, { env: { PATH: process.env.PATH } });
    child.stdin.on('error', () => undefined); // its end is seen where its lines end
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    this.#child = child;
    this.#lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return [this.#child, this.#lines];
  }
}
