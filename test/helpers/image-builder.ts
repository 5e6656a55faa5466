/** Builds images with buildah, where no container engine runs and none is needed: as root, with chroot. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './service';

/** What the Dockerfile says of how the image is run, as Docker keeps it. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly ExposedPorts: Readonly<Record<string, object>>;
}

export class ImageBuilder {
  readonly #folder: string;
  readonly #storage: readonly string[];

  /** @param folder for all that it keeps: several gigabytes */
  constructor(folder: string) {
    this.#folder = folder;
    const [root, runroot] = ['storage', 'run'].map((name) => path.join(folder, name));
    this.#storage = ['--root', root ?? '', '--runroot', runroot ?? '', '--storage-driver=vfs'];
    mkdirSync(path.join(folder, 'tmp'), { recursive: true });
  }

  /** An image out of a folder that `fill` fills; `from`: what is in it before. */
  base(
    name: string,
    fill: (root: string) => void,
    { from = 'scratch', env = {} }: { from?: string; env?: Readonly<Record<string, string>> } = {},
  ): string {
    const container = this.#run('from', '--pull-never', from);
    fill(this.#run('mount', container));
    for (const [key, value] of Object.entries(env))
      this.#run('config', '--env', `${key}=${value}`, container);
    this.#run('commit', '--quiet', '--rm', container, name);
    return name;
  }

  /** Builds the Dockerfile of this repository, and shows on standard error how far it is. */
  async build(
    name: string,
    args: Readonly<Record<string, string>>,
    secrets: Readonly<Record<string, string>>,
  ): Promise<void> {
    const given = [
      ...Object.entries(args).map(([key, value]) => `--build-arg=${key}=${value}`),
      ...Object.entries(secrets).map(([id, file]) => `--secret=id=${id},src=${file}`),
    ];
    const how = ['--isolation=chroot', '--format=docker', '--pull-never', `--tag=${name}`];
    const child = spawn('buildah', [...this.#storage, 'bud', ...how, ...given, ROOT], {
      env: this.#env(),
      stdio: ['ignore', 2, 2],
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`the Dockerfile does not build: exit code ${code}, see above`);
  }

  config(name: string): ImageConfig {
    const image = JSON.parse(this.#run('inspect', '--type=image', name)) as {
      readonly Docker: { readonly config: ImageConfig };
    };
    return image.Docker.config;
  }

  /** The root file system of a new container. */
  mount(name: string): string {
    return this.#run('mount', this.#run('from', '--pull-never', name));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #env(): NodeJS.ProcessEnv {
    return { ...process.env, TMPDIR: path.join(this.#folder, 'tmp') };
  }

  #run(...args: readonly string[]): string {
    const options = { env: this.#env(), encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
    return execFileSync('buildah', [...this.#storage, ...args], options).trim();
  }
}
