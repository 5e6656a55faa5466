/** The first process of `npm start` is all that a supervisor knows: when it goes, so do the services. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { EEG_MODEL, type LogLine, ROOT, textModel } from '../helpers/service';
import { until } from '../helpers/until';

/** The scripts of package.json that run servers, and how many. */
const SCRIPTS = [
  ['start', 2],
  ['start:sentiment', 1],
  ['start:eeg', 1],
] as const;

const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const started: Supervised[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.kill();
});

/** A command line as a supervisor starts it. */
class Supervised {
  readonly child: ChildProcess;
  #output = '';

  constructor(command: string, args: readonly string[]) {
    this.child = spawn(command, args, {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        WORKERS: '1',
        npm_config_update_notifier: 'false',
        ...textModel('bert-single-label'),
        EEG_MODEL_PATH: EEG_MODEL,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // so that `kill` reaches what a failed test leaves
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    started.push(this);
  }

  /** Resolves when so many services listen. */
  ports(count: number): Promise<readonly number[]> {
    return until(`${count} services to listen`, () => {
      const lines = this.#output.split('\n').slice(0, -1);
      const ports = lines
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine)
        .filter(({ msg }) => msg === 'listening')
        .map(({ port }) => port as number);
      if (ports.length === count) return ports;
      if (this.child.exitCode !== null) throw new Error(`it has ended: ${this.#output}`);
      return null;
    });
  }

  /** Ends the first process, the shell, and scripts/start.mjs, without which services end. */
  kill(): void {
    try {
      process.kill(-(this.child.pid as number), 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended
    }
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function closesItsPorts(first: Supervised, count: number, signal: NodeJS.Signals) {
  const ports = await first.ports(count);
  for (const port of ports) expect(await isOpen(port)).toBe(true);
  first.child.kill(signal);
  await until(`ports ${ports} to be closed`, async () => {
    const open = await Promise.all(ports.map(isOpen));
    return !open.includes(true);
  });
}

describe.each(SCRIPTS)('%s', (name, count) => {
  // Without its "prestart", which would build anew what other tests use.
  const npm = () => new Supervised('npm', ['run', name, '--ignore-scripts']);

  it('ends with npm, which is told to', () => closesItsPorts(npm(), count, 'SIGTERM'));

  it('ends with npm, which is killed', () => closesItsPorts(npm(), count, 'SIGKILL'));

  // npm tells its child alone: a shell that stood between would end and leave the services.
  it('ends with the shell of npm, which is told to', async () => {
    const shell = new Supervised('/bin/sh', ['-c', `${scripts[name]} --log-level info`]);
    await closesItsPorts(shell, count, 'SIGTERM');
  });
});

it('these are all scripts that run servers', () => {
  const names = Object.keys(scripts).filter((name) => /^(?:start|serve)/.test(name));
  expect(names).toEqual(SCRIPTS.map(([name]) => name));
});
