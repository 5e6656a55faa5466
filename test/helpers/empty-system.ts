/** A root file system with the essentials of a Debian release, and Node.js, in which programs are run. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { copyNetworkFiles, networkVariables } from './network-settings';

const HOME = '/home/somebody';
const USER = 1000;
/** Mounts go with the process. */
const ENTER =
  'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot --userspec=1000:1000 "$0" "$@"';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where npm lies, which is not part of the program `node`. */
export function npmFolder(): string {
  return path.join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
}

export class EmptySystem {
  readonly #root: string;
  readonly #env: Readonly<Record<string, string>>;

  /** @param release of Debian, such as bookworm. Needs root, and debootstrap. */
  constructor(release: string) {
    this.#root = mkdtempSync(path.join(os.tmpdir(), `${release}-`));
    chmodSync(this.#root, 0o755);
    const options = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[] };
    execFileSync('debootstrap', ['--variant=minbase', release, this.#root], options);
    copyFileSync(process.execPath, this.#at('/usr/bin/node'));
    cpSync(npmFolder(), this.#at('/opt/npm'), { recursive: true });
    this.#env = { HOME, PATH: '/usr/bin:/bin', ...networkVariables() };
    copyNetworkFiles(this.#root);
    mkdirSync(this.#at(HOME), { recursive: true });
    chownSync(this.#at(HOME), USER, USER);
  }

  /** Path of a file of the system, from outside. */
  #at(file: string): string {
    return path.join(this.#root, file);
  }

  /** Puts files into the home of the user. */
  give(files: readonly string[]): void {
    for (const file of files) copyFileSync(file, this.#at(path.join(HOME, path.basename(file))));
  }

  /** A shell command of the user, who is not root. */
  start(command: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    const variables = Object.entries({ ...this.#env, ...env }).map(
      ([key, value]) => `${key}=${value}`,
    );
    const inside = ['env', '-i', ...variables, 'sh', '-c', `cd && exec ${command}`];
    return spawn('unshare', ['--mount', 'sh', '-c', ENTER, this.#root, ...inside], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group, which a terminal would signal as a whole
    });
  }

  async run(command: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const child = this.start(command, env);
    const text = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
        text[stream] += chunk;
      });
    }
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...text };
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
