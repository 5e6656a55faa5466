import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Folder } from './files';
import { request } from './http';
import {
  EEG_MODEL,
  FIXTURES,
  killAll,
  type Service,
  type ServiceOptions,
  startService,
} from './service';
import { until } from './until';

/** Two text models that answer otherwise. */
export const FIRST = 'bert-single-label';
export const SECOND = 'bert-multi-label-bfloat16';

export interface DescribedModel {
  readonly name: string;
  readonly address: string;
  readonly aliases: readonly string[];
  readonly task: string | null;
  readonly default: boolean;
  readonly serving: string | null;
  readonly reason: string | null;
  readonly versions: readonly {
    readonly version: string;
    readonly state: string;
    readonly reason: string | null;
  }[];
}

const directories: ModelsDirectory[] = [];

/** Removed by `removeDirectories`. */
export function newDirectory(): ModelsDirectory {
  const directory = new ModelsDirectory();
  directories.push(directory);
  return directory;
}

/** For `afterAll`: ends the services, then removes what `newDirectory` gave. */
export async function removeDirectories(): Promise<void> {
  await killAll();
  for (const { folder } of directories.splice(0)) folder.remove();
}

/** A directory of models, and the services that were started over it. */
export class ModelsDirectory {
  readonly folder = new Folder();

  get path(): string {
    return this.folder.path;
  }

  /** @param fixture of test/fixtures/models; @param place `name` or `name/version` */
  text(place: string, fixture: string, settings?: object): void {
    const target = path.join(this.path, place);
    // Complete at once, as a tool that deploys puts it there.
    const beside = path.join(this.path, `.${place.replaceAll('/', '-')}`);
    cpSync(path.join(FIXTURES, 'models', fixture), beside, { recursive: true });
    if (settings) writeFileSync(path.join(beside, 'model.json'), JSON.stringify(settings));
    mkdirSync(path.dirname(target), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(beside, target);
  }

  signal(place: string): void {
    this.file(path.join(place, 'model.pt'), EEG_MODEL);
  }

  /** A file as it is. */
  file(place: string, source: string): void {
    const target = path.join(this.path, place);
    mkdirSync(path.dirname(target), { recursive: true });
    cpSync(source, target);
  }

  write(place: string, content: string): void {
    const target = path.join(this.path, place);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
  }

  remove(place: string): void {
    rmSync(path.join(this.path, place), { recursive: true, force: true });
  }

  /** Resolves when all folders have been looked at. */
  async start(options: ServiceOptions = {}): Promise<Service> {
    const service = await startService('models', { ...options, args: [this.path] });
    await service.waitForLog(({ msg }) => msg === 'models loaded');
    return service;
  }
}

export async function modelsOf(service: Service): Promise<readonly DescribedModel[]> {
  const { json } = await request(service, { path: '/info' });
  return (json as { readonly models: readonly DescribedModel[] }).models;
}

export async function modelOf(service: Service, name: string): Promise<DescribedModel | undefined> {
  return (await modelsOf(service)).find((model) => model.name === name);
}

export function untilModel(
  service: Service,
  name: string,
  what: string,
  is: (model: DescribedModel | undefined) => boolean,
): Promise<true> {
  return until(`${name} ${what}`, async () => is(await modelOf(service, name)));
}
