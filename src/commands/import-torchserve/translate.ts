import path from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../settings/environment';
import { MODEL_NAME } from '../../settings/parsers';
import { SETTINGS, type SettingName } from '../../settings/settings';
import { UNSUPPORTED_KEYS, UNSUPPORTED_MODEL_KEYS } from './unsupported-keys';

/** An archive and its folder in the model repository. */
export interface ImportedArchive {
  /** File name in the model store. */
  readonly archive: string;
  /** `NAME`, or `NAME/NUMBER` if the model has several versions. */
  readonly folder: string;
}

export interface ImportedModel {
  readonly name: string;
  readonly archives: readonly ImportedArchive[];
  /** Content of model.json. */
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface Translation {
  readonly settings: ReadonlyMap<SettingName, string>;
  readonly models: readonly ImportedModel[];
  /** Absolute path; null: config.properties has no model_store. */
  readonly modelStore: string | null;
  /** Notes on keys that are unsupported or changed: `key: reason`. */
  readonly notes: readonly string[];
  /** Errors in config.properties; with errors, nothing is written. */
  readonly problems: readonly string[];
}

/** TorchServe's default address. */
const DEFAULT_ADDRESS = 'http://127.0.0.1:8080';

/** Settings of each address key, and TorchServe's default ports. */
const ADDRESSES = {
  inference_address: { host: 'HOST', port: 'PORT', http: '8080', https: '8443' },
  management_address: {
    host: 'MANAGEMENT_HOST',
    port: 'MANAGEMENT_PORT',
    http: '8081',
    https: '8444',
  },
} as const satisfies Readonly<
  Record<string, Readonly<Record<'host' | 'port', SettingName>> & { http: string; https: string }>
>;

const FILE_NAME = /^[^/\\\p{Cc}]{1,255}$/u;

const versionSchema = z.looseObject({
  marName: z.string().regex(FILE_NAME, 'expected the name of a file in model_store'),
  defaultVersion: z.boolean().optional(),
  batchSize: z.int().positive().optional(),
  maxBatchDelay: z.int().nonnegative().optional(),
  responseTimeout: z.int().positive().optional(),
  jobQueueSize: z.int().positive().optional(),
});
const modelsSchema = z.record(
  z.string().regex(MODEL_NAME.pattern, 'not a model name. Use letters, digits, ".", "_" and "-"'),
  z.record(z.string(), versionSchema),
);
type Version = z.output<typeof versionSchema>;
/** Settings for all models of version keys, and their unit; the largest value applies. */
const GLOBAL_MODEL_KEYS = {
  batchSize: ['MAX_BATCH_REQUESTS', 1],
  maxBatchDelay: ['MAX_QUEUE_DELAY_MS', 1],
  responseTimeout: ['INFERENCE_TIMEOUT_MS', 1000],
} as const satisfies Readonly<Record<string, readonly [SettingName, number]>>;
const PER_MODEL_KEYS = ['marName', 'defaultVersion', 'jobQueueSize'];

/**
 * Converts the keys of config.properties to settings and models.
 *
 * @param archives returns the file names of a model store, for `load_models=all`
 */
export function translate(
  properties: ReadonlyMap<string, string>,
  environment: Environment,
  archives: (modelStore: string) => readonly string[],
): Translation {
  const translator = new Translator(environment);
  for (const [key, value] of properties) translator.take(key, value);
  return translator.finish(archives);
}

class Translator {
  readonly #environment: Environment;
  readonly #settings = new Map<SettingName, string>();
  readonly #notes: string[] = [];
  readonly #problems: string[] = [];
  readonly #models = new Map<string, ImportedModel>();
  #modelStore: string | null = null;
  #loadModels = '';
  #isAddressed = false;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  readonly #meanings: Readonly<Record<string, (value: string, key: string) => void>> = {
    certificate_file: (value, key) => this.#set('TLS_CERT_FILE', this.#pathOf(value), key),
    cors_allowed_origin: (value, key) => this.#set('CORS_ORIGINS', value, key),
    default_response_timeout: (value, key) =>
      this.#setMaximum('INFERENCE_TIMEOUT_MS', Number(value) * 1000, key),
    inference_address: (value) => {
      this.#isAddressed = true;
      this.#takeAddress(value, 'inference_address');
    },
    job_queue_size: (value, key) => this.#set('MAX_QUEUE_REQUESTS', value, key),
    load_models: (value) => {
      this.#loadModels = value;
    },
    management_address: (value) => this.#takeAddress(value, 'management_address'),
    max_request_size: (value, key) => this.#set('BODY_LIMIT', value, key),
    model_store: (value) => {
      this.#modelStore = this.#pathOf(value);
    },
    models: (value) => this.#takeModels(value),
    private_key_file: (value, key) => this.#set('TLS_KEY_FILE', this.#pathOf(value), key),
  };

  take(key: string, value: string): void {
    const meaning = Object.hasOwn(this.#meanings, key) ? this.#meanings[key] : undefined;
    if (meaning) meaning(value, key);
    else this.#notes.push(`${key}: ${reasonOf(UNSUPPORTED_KEYS, key)}`);
  }

  finish(archivesOf: (modelStore: string) => readonly string[]): Translation {
    if (!this.#isAddressed) this.#takeAddress(DEFAULT_ADDRESS, 'inference_address');
    const archives = this.#modelStore === null ? [] : archivesOf(this.#modelStore);
    const isAll = /^all$/i.test(this.#loadModels);
    const named = isAll ? archives : this.#loadModels.split(',').filter((entry) => entry.trim());
    for (const entry of named) this.#takeArchive(entry.trim());
    const used = [...this.#models.values()].flatMap((model) => model.archives);
    for (const { archive } of used) {
      if (!archives.includes(archive)) this.#problems.push(`${archive}: not found in model_store`);
    }
    return {
      settings: this.#settings,
      models: [...this.#models.values()],
      modelStore: this.#modelStore,
      notes: this.#notes,
      problems: this.#problems,
    };
  }

  #pathOf(value: string): string {
    return path.resolve(this.#environment.workingDirectory, value);
  }

  /** Sets a setting; an invalid value is a problem. */
  #set(setting: SettingName, value: string, key: string): void {
    try {
      SETTINGS[setting].parse(value, this.#environment);
      this.#settings.set(setting, value);
    } catch (error) {
      this.#problems.push(`${key}: as ${setting}: ${(error as Error).message}`);
    }
  }

  #setMaximum(setting: SettingName, value: number, key: string): void {
    const current = Number(this.#settings.get(setting) ?? 0);
    this.#set(setting, String(Number.isNaN(value) ? value : Math.max(current, value)), key);
  }

  /** Address as `http://127.0.0.1:8080`, with TorchServe's default port if absent. */
  #takeAddress(value: string, key: keyof typeof ADDRESSES): void {
    const [, scheme, host, port] =
      /^(https?):\/\/(\[[0-9a-fA-F:]+\]|[^:/]+)(?::(\d+))?\/?$/i.exec(value) ?? [];
    if (scheme === undefined || host === undefined) {
      this.#problems.push(`${key}: expected http://HOST:PORT, received "${value}"`);
      return;
    }
    const { host: hostSetting, port: portSetting, http, https } = ADDRESSES[key];
    this.#set(hostSetting, host.replace(/^\[|\]$/g, ''), key);
    this.#set(portSetting, port ?? (scheme.toLowerCase() === 'https' ? https : http), key);
  }

  #takeArchive(written: string): void {
    const [first = '', second] = written.split('=').map((part) => part.trim());
    const archive = second ?? first;
    const name = second === undefined ? archive.replace(/\.mar$/, '') : first;
    if (this.#models.has(name)) return; // The key `models` is more specific.
    if (/^\w+:\/\//.test(archive)) {
      this.#notes.push(`load_models: ${name}: ${UNSUPPORTED_KEYS.allowed_urls}: fetch it yourself`);
    } else if (!MODEL_NAME.pattern.test(name) || !FILE_NAME.test(archive)) {
      this.#problems.push(
        `load_models: ${JSON.stringify(written)}: not a model name. Use letters, digits, ".", "_" and "-"`,
      );
    } else {
      this.#models.set(name, { name, archives: [{ archive, folder: name }], settings: {} });
    }
  }

  #takeModels(value: string): void {
    let content: unknown;
    try {
      content = JSON.parse(value);
    } catch {
      this.#problems.push('models: is not JSON');
      return;
    }
    const result = modelsSchema.safeParse(content);
    if (!result.success) {
      const [issue] = result.error.issues;
      this.#problems.push(`models: ${issue?.path.join('.')}: ${issue?.message}`);
      return;
    }
    for (const [name, versions] of Object.entries(result.data)) this.#takeModel(name, versions);
  }

  #takeModel(name: string, versions: Readonly<Record<string, Version>>): void {
    // The highest version serves requests without a version.
    const ordered = Object.entries(versions).sort(
      ([a, first], [b, second]) =>
        Number(first.defaultVersion ?? false) - Number(second.defaultVersion ?? false) ||
        a.localeCompare(b, 'en', { numeric: true }),
    );
    if (ordered.length === 0) return;
    const queues: number[] = [];
    const archives = ordered.map(([version, { marName: archive, ...keys }], index) => {
      const where = `models: ${name}: ${version}`;
      if (keys.jobQueueSize) queues.push(keys.jobQueueSize);
      for (const [key, value] of Object.entries(keys)) this.#takeVersionKey(where, key, value);
      if (ordered.length === 1) return { archive, folder: name };
      this.#notes.push(`${where}: is version ${index + 1} here: versions are whole numbers`);
      return { archive, folder: `${name}/${index + 1}` };
    });
    const settings = {
      ...(queues.length > 0 && { max_queue_requests: Math.max(...queues) }),
      ...(archives.length > 1 && { versions: 'all' }),
    };
    this.#models.set(name, { name, archives, settings });
  }

  #takeVersionKey(where: string, key: string, value: unknown): void {
    if (key in GLOBAL_MODEL_KEYS) {
      const [setting, factor] = GLOBAL_MODEL_KEYS[key as keyof typeof GLOBAL_MODEL_KEYS];
      this.#setMaximum(setting, Number(value) * factor, `${where}: ${key}`);
    } else if (!PER_MODEL_KEYS.includes(key)) {
      this.#notes.push(`${where}: ${key}: ${reasonOf(UNSUPPORTED_MODEL_KEYS, key)}`);
    }
  }
}

function reasonOf(reasons: Readonly<Record<string, string>>, key: string): string {
  return (Object.hasOwn(reasons, key) && reasons[key]) || 'unknown key';
}
