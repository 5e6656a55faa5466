import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { modelWith } from '../helpers/model-folder';
import { freePort } from '../helpers/ports';
import { type LogLine, ROOT } from '../helpers/service';
import { until, within } from '../helpers/until';

/** How a command starts services, which go on until they are told to stop. */
const STARTS =
  /(?:^|\s)(?:npm start|npm run start:\w+|libtorch-serve (?:serve|sentiment|eeg|models)|dist\/main\.js (?:sentiment|eeg))(?:\s|$)/;
/** The port of a directory of models is open before they are loaded. */
const OF_DIRECTORY = /libtorch-serve (?:serve|models)\s/;

/** Models and data that readers have, by the names that pages give them. */
const FILES_OF_READERS: Readonly<Record<string, string>> = {
  'my-classifier': 'models/sentiment',
  'all-MiniLM-L6-v2': 'test/fixtures/embeddings/sentences/v3-cls-prompts',
  'my-embedder': 'test/fixtures/embeddings/encoders/bert',
  'bearing.pt2': 'test/fixtures/exported/signals/spectrogram.pt2',
  reranker: 'test/fixtures/reranking/exported-gte',
  ner: 'test/fixtures/tagging/bert-cased',
  'gliner-small': 'test/fixtures/gliner/deberta-marker-v0',
  'labeled.jsonl': 'test/fixtures/files/labeled-decisions.jsonl',
};

/** Makes an NLI model of a classifier with relative positions, which can read longer texts than its file says. */
const NLI = {
  id2label: { 0: 'entailment', 1: 'neutral', 2: 'contradiction' },
  label2id: { entailment: 0, neutral: 1, contradiction: 2 },
  max_position_embeddings: 512,
};

/** Where readers are told to look for the services. */
const USUAL_PORTS = { sentiment: 8000, eeg: 8001 };
type ServiceName = keyof typeof USUAL_PORTS;
export type Ports = Readonly<Record<ServiceName, number>>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Which port a page gives to what it starts. */
const PORT_SETTING = /(?<=\b(?:GRPC_|MANAGEMENT_)?PORT=)\d+/g;

/** A folder that looks like the checkout, in which the commands of one page are run. */
export class Checkout {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-docs-'));
  readonly #usual: Ports;
  #ports: Ports;
  /** Ports that the page sets for other listeners of the service, and the free ports in their place. */
  #named: ReadonlyMap<string, number> = new Map();
  #started: StartedServices | undefined;
  #modules = 0;

  /** `ports`: of services with the shipped models, for commands that only ask. */
  constructor(ports: Ports) {
    this.#usual = ports;
    this.#ports = ports;
    for (const entry of [...committed(), 'build', 'dist']) {
      symlinkSync(path.join(ROOT, entry), path.join(this.#folder, entry));
    }
    for (const [name, target] of Object.entries(FILES_OF_READERS)) {
      cpSync(path.join(ROOT, target), path.join(this.#folder, name), { recursive: true });
    }
    modelWith({ path: this.#folder }, 'deberta-v2-as-v3-float16', { 'config.json': NLI }, 'nli');
    // What `npm install libtorch-serve` leaves; scripts find their own packages from where they are.
    const bin = path.join(this.#folder, 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(ROOT, path.join(this.#folder, 'node_modules', 'libtorch-serve'));
    // Clients of other systems, that pages show.
    for (const client of ['@huggingface', 'cohere-ai', 'openai', 'ws']) {
      const place = path.join('node_modules', client);
      symlinkSync(path.join(ROOT, place), path.join(this.#folder, place));
    }
    symlinkSync(path.join(ROOT, 'dist', 'main.js'), path.join(bin, 'libtorch-serve'));
  }

  /** Runs a command to its end, or, where it starts services, until they listen. */
  async run(command: string): Promise<Ended> {
    if (!STARTS.test(command)) {
      return this.#execute('bash', ['-euo', 'pipefail', '-c', this.#here(command)]);
    }
    await this.#stop();
    const port = await freePorts();
    const named = await freePortsOf(command);
    const here = this.#here(command).replaceAll(PORT_SETTING, (name) => String(named.get(name)));
    this.#started = new StartedServices(here, { cwd: this.#folder, env: environment(port) });
    const listening = await this.#started.logged(
      'listening',
      /npm start(?:\s|$)/.test(command) ? 2 : 1,
    );
    const unloaded = OF_DIRECTORY.test(command)
      ? (await this.#started.logged('models loaded', 1)).filter(({ models }) => models === 0)
      : listening.filter(({ modelLoaded }) => modelLoaded !== true);
    if (unloaded.length > 0) throw new Error(`${command}: started without a model`);
    const ports = listening.map(({ service, port }) => [service, port]);
    // A page that starts one service has it on port 8000, whichever it is.
    const onlyOne = listening.length === 1 ? { sentiment: listening[0]?.port as number } : {};
    this.#ports = { ...this.#usual, ...Object.fromEntries(ports), ...onlyOne };
    this.#named = new Map([...named].filter(([name]) => name !== String(USUAL_PORTS.sentiment)));
    return { code: 0, stdout: '', stderr: '' };
  }

  runModule(code: string): Promise<Ended> {
    this.#modules += 1;
    const file = path.join(this.#folder, `block-${this.#modules}.mjs`);
    writeFileSync(file, this.#here(code));
    return this.#execute(process.execPath, [file]);
  }

  /** Stops what was started, and takes the folder away; a second time does nothing. */
  async end(): Promise<void> {
    try {
      await this.#stop();
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #here(text: string): string {
    const here = [...this.#named].reduce(
      (replaced, [name, port]) => replaced.replaceAll(`localhost:${name}`, `localhost:${port}`),
      text,
    );
    return here
      .replaceAll('/path/to/model', path.join(ROOT, 'models', 'sentiment'))
      .replaceAll('/path/to/eeg_model.pt', path.join(ROOT, 'models', 'eeg', 'eeg_model.pt'))
      .replaceAll('localhost:8000', `localhost:${this.#ports.sentiment}`)
      .replaceAll('localhost:8001', `localhost:${this.#ports.eeg}`);
  }

  #execute(file: string, args: readonly string[]): Promise<Ended> {
    const options = { cwd: this.#folder, env: environment(), maxBuffer: 2 ** 24 };
    return new Promise((resolve) => {
      const child = execFile(file, args, options, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
      child.stdin?.end();
    });
  }

  async #stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    this.#ports = this.#usual;
    this.#named = new Map();
    await started?.stop();
  }
}

/** What stands at the top of the repository; nothing else that is there, for a page may write such a file. */
function committed(): readonly string[] {
  const args = ['ls-tree', '--name-only', 'HEAD'];
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** Without any of the service's settings, but those that let it run beside other tests. */
function environment(port?: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    HOST: '127.0.0.1',
    WORKERS: '2',
    MAX_QUEUE_WAIT_MS: '600000', // so that nothing is refused because the machine is slow
    // `npm run NAME` runs NAME, and not the build that goes before it: that is done.
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
    npm_config_offline: 'true',
    ...(port === undefined ? {} : { PORT: String(port) }),
  };
}

/** The first of two in a row, which `npm start` takes. */
async function freePorts(): Promise<number> {
  return await until('two free ports in a row', async () => {
    const port = await freePort();
    return (await freePort()) === port + 1 && port;
  });
}

/** A free port for each port that a command sets: a page says 8001, and somebody has it. */
async function freePortsOf(command: string): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const [port] of command.matchAll(PORT_SETTING)) {
    if (!ports.has(port)) ports.set(port, await freePorts());
  }
  return ports;
}

/** A command that starts services, with all the processes that it takes. */
class StartedServices {
  readonly #command: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #output = '';
  #isClosed = false;

  constructor(command: string, options: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#command = command;
    // A group of its own, so that npm, its shell and what they start can be told to stop together.
    this.#child = spawn('bash', ['-c', command], { ...options, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', () => {
        this.#isClosed = true;
        resolve();
      });
    });
  }

  /** The log lines of that many services that say so. */
  logged(message: string, count: number): Promise<readonly LogLine[]> {
    return until(`"${message}" of ${count} services: ${this.#command}`, () => {
      const lines = this.#linesOf(message);
      if (lines.length === count) return lines;
      if (this.#isClosed) throw new Error(`${this.#command}: ended: ${this.#output}`);
      return null;
    });
  }

  /** Tells all to stop as Ctrl-C does, and waits until the last one has ended. */
  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#isClosed) process.kill(-pid, 'SIGINT');
    await within(() => `the end of ${this.#command}: ${this.#output}`, this.#closed);
    const [began, ended] = [this.#linesOf('listening'), this.#linesOf('stopped')];
    if (began.length !== ended.length) {
      throw new Error(`${this.#command}: did not stop in order: ${this.#output}`);
    }
  }

  #linesOf(message: string): readonly LogLine[] {
    const whole = this.#output.slice(0, this.#output.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ msg }) => msg === message);
  }
}
