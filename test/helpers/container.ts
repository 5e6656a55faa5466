/** A container of an image, without a container engine. Needs root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ImageConfig } from './image-builder';
import { freePort } from './ports';
import { Service } from './service';

const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child'];

export interface Image {
  /** Folder with its files. */
  readonly root: string;
  readonly config: ImageConfig;
}

export interface ContainerOptions {
  /** Instead of the image's own arguments. */
  readonly args?: readonly string[];
  /** Instead of the image's own program. */
  readonly entrypoint?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of this machine by the places where they are mounted, read-only. */
  readonly volumes?: Readonly<Record<string, string>>;
}

/** As `docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges --network=host`. */
export class Container extends Service {
  readonly #env: readonly string[];
  readonly #image: Image;

  constructor(image: Image, options: ContainerOptions) {
    const { User, Env, Entrypoint, Cmd, WorkingDir } = image.config;
    const [user = '', group = ''] = User.split(':');
    const given = Object.entries(options.env ?? {}).map(([key, value]) => `${key}=${value}`);
    const env = [...Env, 'HOME=/', ...given];
    const volumes = Object.entries(options.volumes ?? {}).map(
      ([place, from]) => `${from}=${place}`,
    );
    super({
      program: 'unshare',
      nodeArgs: [...NAMESPACES, 'sh'],
      script: path.join(__dirname, 'enter-image.sh'),
      args: [
        ...[image.root, user, group, WorkingDir, ...volumes, '--', ...env],
        ...(options.entrypoint ?? Entrypoint),
        ...(options.args ?? Cmd),
      ],
    });
    this.#env = env;
    this.#image = image;
  }

  /** Of the process that is PID 1 inside, as it is known outside. */
  get pid(): number {
    const { pid } = this.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    if (children === '') throw new Error('nothing runs in the container');
    return Number(children);
  }

  /** To PID 1 inside. */
  override kill(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Runs a command inside, as its user or as root, and resolves with how it ended and what it wrote. */
  async run(command: readonly string[], { asRoot = false } = {}): Promise<[number | null, string]> {
    const { User, WorkingDir } = this.#image.config;
    const [user, group] = User.split(':');
    const rights = ['--clear-groups', '--no-new-privs', `--reuid=${user}`, `--regid=${group}`];
    const become = asRoot ? [] : ['setpriv', ...rights];
    const into = [`--target=${this.pid}`, '--mount', '--pid', '--root'];
    const env = ['env', '-i', `--chdir=${WorkingDir}`, ...this.#env];
    const child = spawn('nsenter', [...into, ...become, ...env, ...command]);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
    }
    const [code] = (await once(child, 'close')) as [number | null];
    return [code, text];
  }

  /** The image's HEALTHCHECK; its exit code. */
  async checkHealth(): Promise<number | null> {
    const [kind, ...command] = this.#image.config.Healthcheck.Test;
    if (kind !== 'CMD') throw new Error(`HEALTHCHECK is a ${kind}`);
    return (await this.run(command))[0];
  }

  /** A figure of /proc/PID/status, in bytes. */
  memory(name: 'VmRSS' | 'RssAnon' | 'RssFile'): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  }
}

/** Starts what the image starts, on a free port of the loopback, and waits until it listens. */
export async function startContainer(
  image: Image,
  options: ContainerOptions = {},
): Promise<Container> {
  const PORT = String(await freePort());
  const env = { HOST: '127.0.0.1', PORT, MAX_QUEUE_WAIT_MS: '600000', ...options.env };
  const container = new Container(image, { ...options, env });
  const { port } = await container.waitForLog(({ msg }) => msg === 'listening');
  container.port = port as number;
  return container;
}
