import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SchedulingOptions } from '../native/engine';
import { ConfigError, configFromOptions } from '../settings/config';
import type { Capabilities, Capability } from '../tasks/capabilities';
import { Guard as Checks } from '../tasks/guard/guard';
import {
  checkGuardFile,
  type GuardFile,
  type ModelCheck,
  parseGuardFile,
} from '../tasks/guard/guard-file';
import type { GuardModels, GuardRequest, GuardResult } from '../tasks/guard/guard-result';
import { Restorer, restore } from '../tasks/guard/redaction';
import { TASKS } from '../tasks/registry';
import { type ServedModel, toServedModel, withCapability } from '../tasks/served-model';
import type { Task } from '../tasks/task';
import type { TaskModel } from '../tasks/task-model';
import { type EngineOptions, environment, loaded, loadTexts, type RunOptions } from './engine';

export interface GuardLoadOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Path of a guardrail policy file, or its parsed content. */
  readonly file: string | object;
  /** Model folders by the model names in the policy file. `save_pretrained` writes such folders. */
  readonly models?: Readonly<Record<string, string>>;
}

export interface GuardCheckOptions extends RunOptions {
  /**
   * Direction of the texts: to a language model (input) or from a language model (output). Default:
   * input.
   */
  readonly direction?: GuardRequest['direction'];
}

/** Guardrail that runs in this process. Load it once and call `close` to release it. */
export class Guard {
  readonly #checks: Checks;
  readonly #models: ReadonlyMap<string, ServedModel>;

  private constructor(checks: Checks, models: ReadonlyMap<string, ServedModel>) {
    this.#checks = checks;
    this.#models = models;
  }

  /**
   * Loads the policy and its models.
   *
   * @throws ConfigError if an option is invalid or a model is missing in `models`; EngineError
   *   MODEL_LOAD_FAILED, whose message names the file and the key
   */
  static async load({ file, models = {}, ...options }: GuardLoadOptions): Promise<Guard> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    const checks = await loaded(async () => Checks.open(readFile(file)));
    const wanted = modelsOf(checks.file);
    const missing = [...wanted.keys()].filter((name) => !Object.hasOwn(models, name));
    if (missing.length > 0) {
      await checks.close();
      throw new ConfigError(missing.map((name) => `models: expected the folder of "${name}"`));
    }
    const found = new Map<string, ServedModel>();
    try {
      for (const [name, task] of wanted) {
        const folder = path.resolve(models[name] as string);
        const model = await loadTexts(task, folder, scheduling);
        found.set(name, toServedModel(name, task as Task, folder, model as TaskModel));
      }
    } catch (error) {
      await Promise.all([checks.close(), closeAll(found)]);
      throw error;
    }
    return new Guard(checks, found);
  }

  /**
   * Checks a text, or several parts of a text: each part separately and all parts joined.
   *
   * @throws EngineError CANCELLED
   */
  check(texts: string | readonly string[], options: GuardCheckOptions = {}): Promise<GuardResult> {
    const { direction = 'input', ...run } = options;
    const models: GuardModels = {
      find: (name, ability) => ({ model: this.#find(name, ability), options: run }),
    };
    const question = { texts: typeof texts === 'string' ? [texts] : texts, direction };
    return this.#checks.check(question, models, run);
  }

  /** Replaces the placeholders in a text with their original values. */
  static restore(text: string, map: GuardResult['map']): string {
    return restore(text, map);
  }

  /**
   * Restores placeholders in a text that arrives in chunks, such as the stream of a language model.
   */
  static restorer(map: GuardResult['map']): Restorer {
    return new Restorer(map);
  }

  /** Finishes accepted requests, stops the threads, and releases the models and patterns. */
  async close(): Promise<void> {
    await this.#checks.close();
    await closeAll(this.#models);
  }

  #find<Name extends Capability>(name: string, ability: Name): Capabilities[Name] {
    const capable = withCapability(this.#models.get(name) as ServedModel, ability);
    if (capable?.model) return capable.model;
    throw new Error(`"${name}" does not support this: expected a model that ${ability}.`);
  }
}

function readFile(file: string | object): GuardFile {
  if (typeof file === 'object') return checkGuardFile(file, 'file');
  return parseGuardFile(readFileSync(file, 'utf8'), path.basename(file));
}

/** Returns the task of each model by name. Zero-shot models also perform text classification. */
function modelsOf({ checks }: GuardFile): ReadonlyMap<string, Task> {
  const asking = checks.filter((one): one is ModelCheck => one.type !== 'patterns');
  const byZeroShotLast = asking.toSorted((a, b) => rank(a) - rank(b));
  return new Map(byZeroShotLast.map(({ model, type }) => [model, taskOf(type)]));
}

function rank({ type }: ModelCheck): number {
  return type === 'zero-shot-classification' ? 1 : 0;
}

function taskOf(type: ModelCheck['type']): Task {
  return TASKS.find(({ name }) => name === type) as Task;
}

async function closeAll(models: ReadonlyMap<string, ServedModel>): Promise<void> {
  await Promise.all([...models.values()].map(({ model }) => model?.close()));
}
