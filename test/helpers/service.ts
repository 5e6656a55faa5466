import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { within } from './until';

export const ROOT = path.resolve(__dirname, '..', '..');
export const MAIN = path.join(ROOT, 'dist', 'main.js');
export const FIXTURES = path.join(ROOT, 'test', 'fixtures');

/** What the runner limits all that is tested to. */
const { INSTRUCTION_SET } = process.env;

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [key: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  /** Added to the environment; it starts without the service's settings, but for INSTRUCTION_SET. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly args?: readonly string[];
  /** Node's own flags, such as `--require`. */
  readonly nodeArgs?: readonly string[];
  /** What to run; by default the built service. */
  readonly script?: string;
  /** What runs it; by default Node. */
  readonly program?: string;
  /** Most descriptors it may have open, as `ulimit -n` sets it. */
  readonly descriptors?: number;
}

/** A Node process, its log lines, and its end. */
export class NodeProcess {
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  stdout = '';
  stderr = '';
  #ended: Exit | null = null;
  #waiters: (() => void)[] = [];

  constructor(options: ProcessOptions) {
    const script = options.script ?? MAIN;
    if (!existsSync(script)) throw new Error(`${script} is missing: run "npm run build" first`);
    const node = [
      options.program ?? process.execPath,
      ...(options.nodeArgs ?? []),
      script,
      ...(options.args ?? []),
    ];
    const { descriptors } = options;
    const limited = ['bash', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...node];
    const [command = '', ...args] = descriptors === undefined ? node : limited;
    this.child = spawn(command, args, {
      cwd: options.cwd ?? ROOT,
      env: { PATH: process.env.PATH, ...(INSTRUCTION_SET && { INSTRUCTION_SET }), ...options.env },
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#wake();
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.exit = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        this.#ended = { code, signal };
        this.#wake();
        resolve(this.#ended);
      });
    });
    running.add(this);
    void this.exit.then(() => running.delete(this));
  }

  /** Whole lines of standard output that are JSON. */
  get logs(): readonly LogLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Resolves with the first log line that matches; rejects when the process ends before it. */
  waitForLog(matches: (line: LogLine) => boolean): Promise<LogLine> {
    return this.#within(`a log line where ${matches}`, this.#find(matches));
  }

  /** The log line of a request, by its X-Request-Id. */
  lineOf(id: string): Promise<LogLine> {
    return this.#within(
      `the log line of request ${id}`,
      this.#find(({ requestId }) => requestId === id),
    );
  }

  /** Resolves when it has written something more, or has ended. */
  nextOutput(): Promise<void> {
    return this.#within('more output', this.#wakeUp());
  }

  #within<Value>(what: string, promise: Promise<Value>): Promise<Value> {
    return within(() => `${what}; written so far: ${this.#written}`, promise);
  }

  async #find(matches: (line: LogLine) => boolean): Promise<LogLine> {
    for (;;) {
      const found = this.logs.find(matches);
      if (found) return found;
      if (this.#ended) throw new Error(`ended (${JSON.stringify(this.#ended)}): ${this.#written}`);
      await this.#wakeUp();
    }
  }

  #wakeUp(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** The end of both streams, for messages. */
  get #written(): string {
    return (this.stdout + this.stderr).slice(-10_000);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The signal again and again: one within 100 ms of the first is taken for the same. */
  async insist(signal: NodeJS.Signals): Promise<Exit> {
    const timer = setInterval(() => this.kill(signal), 20);
    try {
      return await this.exit;
    } finally {
      clearInterval(timer);
    }
  }

  /** A signal that stops it; resolves when it has begun to. */
  async beginStop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<void> {
    this.kill(signal);
    await this.waitForLog(({ msg }) => msg === 'stopping');
  }

  /** SIGTERM, and the way it ended. */
  stop(): Promise<Exit> {
    this.kill('SIGTERM');
    return this.exit;
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** A service that listens on a port of its own. */
export class Service extends NodeProcess {
  port = 0;
  /** 0: it does not speak gRPC. */
  grpcPort = 0;
  /** 0: nothing is managed over HTTP. */
  managementPort = 0;

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }
}

const running = new Set<NodeProcess>();

/** Ends whatever a test file has left running; for `afterAll`. */
export async function killAll(): Promise<void> {
  const left = [...running];
  for (const { child } of left) child.kill('SIGKILL');
  await Promise.all(left.map(({ exit }) => exit));
}

export type ServiceOptions = Omit<ProcessOptions, 'args'> & {
  readonly args?: readonly string[];
};

/** Starts a built service and waits until it listens. */
export async function startService(
  name: 'sentiment' | 'eeg' | 'models' | 'serve',
  options: ServiceOptions = {},
): Promise<Service> {
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    WORKERS: '2',
    // So that nothing is refused, and no model served as not loaded, because the machine is slow.
    MAX_QUEUE_WAIT_MS: '600000',
    LISTEN_AFTER_MS: '600000',
    ...options.env,
  };
  const service = new Service({ ...options, env, args: [name, ...(options.args ?? [])] });
  const { port, grpcPort, managementPort } = await service.waitForLog(
    ({ msg }) => msg === 'listening',
  );
  service.port = port as number;
  service.grpcPort = (grpcPort as number | undefined) ?? 0;
  service.managementPort = (managementPort as number | undefined) ?? 0;
  return service;
}

export function textModel(name: string): Readonly<Record<string, string>> {
  return { SENTIMENT_MODEL_DIR: path.join(FIXTURES, 'models', name) };
}

export const EEG_MODEL = path.join(FIXTURES, 'eeg', 'plain-cnn-scripted.pt');
