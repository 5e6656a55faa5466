import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import { messageForClients } from '../native/unexpected-error';
import {
  CAPABILITIES,
  type Capabilities,
  type Capability,
  type ClassifierMetadata,
  type EmbeddingMetadata,
  type ModelMetadata,
  type SparseEmbeddingMetadata,
  type TextEmbedder,
} from './capabilities';
import { createDecisionModel } from './decision-models';
import { embedding } from './embedding/embedding-task';
import { type ChunkEmbedder, lateChunking } from './embedding/late-chunking';
import { embeddingMetadataOf, maskedLanguageModelEmbedding } from './masked-language-model-view';
import { multiEmbedding, multiSparse, multiTokens } from './multi-embedding-views';
import { reranking } from './registry';
import { type RerankerMetadata, readAsReranker } from './reranking/cross-encoder';
import { sparseEmbedding } from './sparse-embedding/sparse-embedding-task';
import type { Task } from './task';
import type { TaskModel } from './task-model';
import type { TextClassifierMetadata } from './text-classification/model-directory';
import { textClassification } from './text-classification/text-classification-task';
import { createZeroShotClassifier } from './zero-shot-models';

/** A model under its name: loaded, or the reason why it is not. */
export interface ServedModel<Model = TaskModel> {
  readonly name: string;
  readonly task: Task;
  /** Name that the model files specify, or the name of the file or folder. */
  readonly title: string;
  /** null: the model files specify no version. */
  readonly version: string | null;
  readonly model: Model | null;
  /** Why the model is not loaded, for clients, without paths; null: it is loaded. */
  readonly reason: string | null;
}

/**
 * @param modelPath folder or file of the model
 * @param model the loaded model, or its load error
 */
export function toServedModel(
  name: string,
  task: Task,
  modelPath: string,
  model: TaskModel | Error,
): ServedModel {
  const file = path.basename(modelPath);
  if (model instanceof Error) {
    const reason = redactPaths(messageForClients(model).replaceAll(modelPath, file));
    return { name, task, title: file, version: null, model: null, reason };
  }
  const { metadata } = model;
  return {
    name,
    task,
    title: metadata.name ?? file,
    version: metadata.version,
    model,
    reason: null,
  };
}

export type VersionState = 'loading' | 'ready' | 'failed' | 'unloading';

export interface ModelVersion {
  readonly version: string;
  readonly state: VersionState;
  /** Why the current files could not be loaded, for clients; null: no load error. */
  readonly reason: string | null;
  /** The loaded model. A failed version can still serve the model that was loaded before. */
  readonly served: ServedModel | null;
}

/** A model folder of the model repository. */
export interface NamedModel {
  readonly name: string;
  /** Further names of the model in requests. */
  readonly aliases: readonly string[];
  readonly isDefault: boolean;
  readonly isRequired: boolean;
  /** Version for requests without a version, if it is loaded; null: the highest loaded version. */
  readonly defaultVersion: string | null;
  /** Ascending; empty if the folder cannot be read. */
  readonly versions: readonly ModelVersion[];
  /** Why `versions` is empty; null: it is not empty. */
  readonly reason: string | null;
}

/** Immutable list of all models, sorted by name. */
export type Catalogue = readonly NamedModel[];

/** Maximum number of names in an error message. */
const MAX_LISTED = 20;

/** @param name name or alias */
export function findModel(catalogue: Catalogue, name: string): NamedModel | undefined {
  return catalogue.find((model) => model.name === name || model.aliases.includes(name));
}

/** Formats names for an error message. */
export function listNames(names: readonly string[]): string {
  const left = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

/** Formats names for an error message: `"a", "b"`, or `none`. */
export function quoteNames(names: readonly string[]): string {
  return names.length === 0 ? 'none' : listNames(names.map((name) => `"${name}"`));
}

/** The version with a number, loaded or not. */
export function versionOf({ versions }: NamedModel, version: string): ModelVersion | undefined {
  return versions.find((candidate) => candidate.version === version);
}

/** Versions of both lists, ascending; `second` has precedence. */
export function mergeVersions(
  first: readonly ModelVersion[],
  second: readonly ModelVersion[],
): readonly ModelVersion[] {
  const byVersion = new Map([...first, ...second].map((version) => [version.version, version]));
  return [...byVersion.values()].sort((a, b) => Number(a.version) - Number(b.version));
}

/** Version for requests without a version: the default version if it is loaded, or the highest loaded version. */
export function currentVersion({ versions, defaultVersion }: NamedModel): ModelVersion | null {
  const loaded = versions.filter(({ served }) => served?.model);
  return loaded.find(({ version }) => version === defaultVersion) ?? loaded.at(-1) ?? null;
}

/** Why the model is unavailable; null: no load error. */
export function unavailableReason({ versions, reason }: NamedModel): string | null {
  return reason ?? versions.findLast(({ reason }) => reason !== null)?.reason ?? null;
}

/** Catalogue of a service with a single model, under version 1. */
export function singleModelCatalogue(served: ServedModel): Catalogue {
  const { name, model, reason } = served;
  const version: ModelVersion = { version: '1', state: model ? 'ready' : 'failed', reason, served };
  return [
    {
      name,
      aliases: [],
      isDefault: true,
      isRequired: true,
      defaultVersion: null,
      versions: [version],
      reason: null,
    },
  ];
}

/** Caches the result of `create` for each model, as long as the model exists. */
export function memoizeByModel<Result>(
  create: (served: ServedModel) => Result,
): (served: ServedModel) => Result {
  const cache = new WeakMap<ServedModel, { readonly result: Result }>();
  return (served) => {
    const cached = cache.get(served);
    if (cached) return cached.result;
    const result = create(served);
    cache.set(served, { result });
    return result;
  };
}

/** The model with the interface of a capability; null: the model lacks the capability. */
export function withCapability<Name extends Capability>(
  served: ServedModel,
  capability: Name,
): ServedModel<Capabilities[Name]> | null {
  const allowed = served.model?.metadata.abilities;
  if (allowed && !allowed.includes(capability)) return null;
  const capable = findCapability(served, capability);
  return capable ? (capable as ServedModel<unknown> as ServedModel<Capabilities[Name]>) : null;
}

/** The model or its view, whatever model.json allows. */
function findCapability(served: ServedModel, capability: Capability): ServedModel | null {
  const view = DERIVED[capability]?.(served);
  return view ?? (isPrimaryCapability(served, capability) ? served : null);
}

/**
 * Checks that the model has the abilities of model.json.
 *
 * @throws ModelFileError
 */
export function requireAbilities(served: ServedModel): void {
  const { abilities = [] } = served.model?.metadata ?? {};
  const missing = abilities.find((ability) => findCapability(served, ability) === null);
  if (missing === undefined) return;
  const own = CAPABILITIES.filter((ability) => findCapability(served, ability) !== null);
  throw new ModelFileError(
    `model.json: abilities: expected some of ${own.join(', ')}, received ${missing}`,
  );
}

/** Whether the task of the model has the capability. */
export function isPrimaryCapability({ task }: ServedModel, capability: Capability): boolean {
  return task.capabilities.includes(capability);
}

/** View of a text classifier with one label as a reranker; null: the model cannot rerank. */
const classifierAsReranker = memoizeByModel(({ task, model, ...served }): ServedModel | null => {
  if (task !== textClassification || !model) return null;
  const metadata = readAsReranker(model.metadata as ClassifierMetadata);
  return (
    metadata && {
      ...served,
      task: reranking,
      model: model.withTask(reranking, metadata) as TaskModel,
    }
  );
});

/** View of a cross-encoder as a text classifier; null: another model, or a decoder. */
const rerankerAsClassifier = memoizeByModel(({ task, model, ...served }): ServedModel | null => {
  if (task !== reranking || !model) return null;
  const metadata = (model.metadata as RerankerMetadata).classifier as TextClassifierMetadata;
  return (
    metadata && {
      ...served,
      task: textClassification as Task,
      model: model.withTask(textClassification, metadata) as TaskModel,
    }
  );
});

/** View of a masked language model without modules for dense embeddings; null: another model. */
const maskedLanguageModelAsEmbedder = memoizeByModel(
  ({ task, model, ...served }): ServedModel | null => {
    if (task !== sparseEmbedding || !model) return null;
    const metadata = embeddingMetadataOf(model.metadata as SparseEmbeddingMetadata);
    const view = maskedLanguageModelEmbedding;
    return metadata && { ...served, task: view as Task, model: model.withTask(view, metadata) };
  },
);

/** View of a bge-m3 model for one of its other embeddings; null: another model. */
function viewOfMulti(toTask: (metadata: EmbeddingMetadata, size: number) => MultiView) {
  return memoizeByModel(({ task, model, ...served }): ServedModel | null => {
    if (task !== embedding || !model) return null;
    const metadata = model.metadata as EmbeddingMetadata;
    if (!metadata.isMulti) return null;
    const view = toTask(metadata, model.monitor.description.vocabularySize);
    return { ...served, task: view.task, model: model.withTask(view.task, view.metadata) };
  });
}

/** View of an embedding model for late chunking; null: the model does not support it. */
export function withLateChunking(
  served: ServedModel<TextEmbedder>,
): ServedModel<ChunkEmbedder> | null {
  const { model, ...rest } = served as ServedModel<unknown> as ServedModel;
  const metadata = model?.metadata as EmbeddingMetadata | undefined;
  return model && metadata?.poolsChunks
    ? { ...rest, model: model.withTask(lateChunking, metadata) }
    : null;
}

/** View of a model that classifies with the labels of a request; null: another model. */
const asZeroShotClassifier = memoizeByModel(({ model, ...served }): ServedModel | null => {
  const view = model && createZeroShotClassifier(served.task, model);
  return view && { ...served, model: view as unknown as TaskModel };
});

/** View of a model that answers typed questions; null: another model. */
const asDecisionModel = memoizeByModel(({ model, ...served }): ServedModel | null => {
  const view = model && createDecisionModel(served.task, model);
  return view && { ...served, model: view as unknown as TaskModel };
});

interface MultiView {
  readonly task: Task;
  readonly metadata: ModelMetadata;
}

/** Views of models by capability. A view replaces the model, also if the capability is that of its task. */
const DERIVED: Readonly<Partial<Record<Capability, (served: ServedModel) => ServedModel | null>>> =
  {
    embedding: maskedLanguageModelAsEmbedder,
    reranking: classifierAsReranker,
    'text-classification': rerankerAsClassifier,
    decision: asDecisionModel,
    'zero-shot': asZeroShotClassifier,
    'sparse-embedding': viewOfMulti((metadata, vocabularySize) => ({
      task: multiSparse as unknown as Task,
      metadata: {
        ...metadata,
        vocabularySize,
        isBareEncoder: false,
        hiddenSize: 0,
      } as ModelMetadata,
    })),
    'token-embedding': viewOfMulti((metadata) => ({
      task: multiTokens as unknown as Task,
      metadata: { ...metadata, roles: null } as ModelMetadata,
    })),
    'multi-embedding': viewOfMulti((metadata) => ({
      task: multiEmbedding as unknown as Task,
      metadata,
    })),
    tokenization: (served) => (served.task.inputKind === 'texts' ? served : null),
  };
