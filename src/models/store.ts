import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { messageForClients } from '../native/unexpected-error';

/** A model under its name: loaded, or the reason why it is not. */
export interface Stored<Task, Model> {
  /** By which it is asked for. */
  readonly name: string;
  /** What it is asked for. */
  readonly task: Task;
  /** Its own name, or else that of its file or folder. */
  readonly title: string;
  /** null: its files do not say. */
  readonly version: string | null;
  readonly model: Model | null;
  /** Why it is not loaded, for clients, so without paths; null: it is. */
  readonly reason: string | null;
}

/** What the store needs of a loaded model. */
export interface StoredModel {
  readonly metadata: { readonly name: string | null; readonly version: string | null };
  /** Refuses what comes and what waits; what runs goes on. */
  drop(): void;
  /** Answers what was accepted, and frees the model. */
  close(): Promise<void>;
}

/** The models of this process, by name. */
export class ModelStore<Task, Model extends StoredModel> {
  readonly #models = new Map<string, Stored<Task, Model>>();

  /**
   * @param place of its files
   * @param model or what was wrong with it
   */
  put(name: string, task: Task, place: string, model: Model | Error): Stored<Task, Model> {
    const file = path.basename(place);
    const loaded = model instanceof Error ? null : model;
    const stored: Stored<Task, Model> = {
      name,
      task,
      model: loaded,
      title: loaded?.metadata.name ?? file,
      version: loaded?.metadata.version ?? null,
      reason:
        model instanceof Error
          ? redactPaths(messageForClients(model).replaceAll(place, file))
          : null,
    };
    this.#models.set(name, stored);
    return stored;
  }

  drop(): void {
    for (const { model } of this.#models.values()) model?.drop();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.values()].map(({ model }) => model?.close()));
  }
}
