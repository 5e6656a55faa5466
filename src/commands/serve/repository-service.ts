import { cohereOf } from '../../protocols/cohere/cohere-protocol';
import { detectors } from '../../protocols/detectors/detectors-protocol';
import { extProc } from '../../protocols/envoy/service';
import type { GrpcService } from '../../protocols/grpc-service';
import { jinaOf } from '../../protocols/jina/jina-protocol';
import { liteLlm } from '../../protocols/litellm/litellm-protocol';
import { grpcService } from '../../protocols/open-inference/grpc/open-inference-service';
import { OpenInferenceModels } from '../../protocols/open-inference/open-inference-models';
import { openInferenceModels } from '../../protocols/open-inference/rest/open-inference-protocol';
import { moderationsOf } from '../../protocols/openai/moderations';
import { openAiOf } from '../../protocols/openai/openai-protocol';
import { describeApi } from '../../protocols/openapi/document';
import { guardOf } from '../../protocols/own/guard';
import type { ModelsInfo } from '../../protocols/own/info';
import { MODELS, ownOfModels } from '../../protocols/own/own-protocol';
import type { Mount, Protocol } from '../../protocols/protocol';
import type { Route } from '../../protocols/route';
import { textEmbeddingsInferenceOf } from '../../protocols/text-embeddings-inference/tei-protocol';
import { kserveV1, torchServeInference } from '../../protocols/torchserve/inference';
import { torchServeManagement } from '../../protocols/torchserve/management';
import { torchServeFamilies } from '../../protocols/torchserve/torchserve-metrics';
import { TorchServeModels } from '../../protocols/torchserve/torchserve-models';
import { vllmOf } from '../../protocols/vllm/vllm-protocol';
import { GuardService } from '../../services/guard';
import { ModelResolver } from '../../services/model-resolver';
import type { Access, ProtectedResource } from '../../serving/access';
import type { Family, Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import { GuardState } from '../../tasks/guard/guard-state';
import type { Repository, VersionedRepository } from '../../tasks/model-repository';
import { TASKS } from '../../tasks/registry';
import {
  type Catalogue,
  currentVersion,
  findModel,
  type ModelVersion,
  memoizeByModel,
  type NamedModel,
  type ServedModel,
  unavailableReason,
} from '../../tasks/served-model';
import type { Task } from '../../tasks/task';
import { guardMetrics } from './guard-metrics';
import {
  createProtocols,
  infoLimits,
  measure,
  protocolOptions,
  type Service,
  type ServiceOptions,
  type ServiceSite,
} from './service';
import { describeHang } from './watchdog';

/** The page of the guard is below it. */
const GUARD_PATH = '/guard';
/** Between the name of a model and the number of a version, in paths. */
const VERSIONS_SEGMENT = '/versions/';
/** Stands in metrics for the versions of a folder that cannot be read. */
const UNREADABLE_FOLDER = { version: '', state: 'failed', reason: '' } as const;

/**
 * What the models of a directory speak: each below an address of its own all that a service of one model does;
 * the defaults of each task at the root as well; the Open Inference Protocol by the names of all.
 */
export class RepositoryService implements Service {
  readonly #options: ServiceOptions;
  readonly #served: OpenInferenceModels;
  readonly #named = new TorchServeModels(() => this.#catalogue);
  readonly #speechOf = memoizeByModel((served) => createProtocols(served, this.#options));
  readonly #measure = memoizeByModel((served) => {
    const version = served.version ?? '';
    const measured = measure(served, this.#options, { model: served.name, version });
    const additional = () => torchServeFamilies(measured.engine, { name: served.name, version });
    return { ...measured, additional };
  });
  /** Of the file of a guard, if there is one. */
  readonly guard = new GuardState();
  readonly #guarding = new GuardService(this.guard, () => this.#catalogue);
  #catalogue: Catalogue = [];
  /** Null: nobody has asked for it. */
  #extProc: GrpcService | null = null;
  /** Names of what was there at the first look. */
  readonly #startup = new Set<string>();
  /** The directory has not been read, and all of its folders looked at, for the first time. */
  isStarting = true;
  /** Why it could not be read; null: it could, or nobody has tried. */
  unread: string | null = null;

  constructor(options: ServiceOptions, repository: Repository) {
    this.#options = options;
    this.#served = new OpenInferenceModels(
      () => this.#catalogue,
      protocolOptions(options),
      repository,
    );
  }

  /** From now on these models are served; `Servers.show` follows. */
  show(catalogue: Catalogue): void {
    this.#catalogue = catalogue;
    if (this.isStarting) for (const { name } of catalogue) this.#startup.add(name);
  }

  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  get site(): ServiceSite {
    const defaults = TASKS.flatMap((task) => this.#defaultOf(task) ?? []).map((served) => ({
      name: served.name,
      protocols: this.#speechOf(served).protocols,
    }));
    const own = ownOfModels(
      {
        info: (access) => this.#info(access),
        isAnyLoaded: () => this.served().length > 0,
        names: (access) =>
          this.#catalogue.map(({ name }) => name).filter((name) => access.canSee(name)),
      },
      defaults.flatMap(({ protocols: [first] }) =>
        first.routes.filter(({ method }) => method !== 'GET'),
      ),
    );
    const all = openInferenceModels(this.#served, protocolOptions(this.#options));
    const others = defaults.flatMap(({ protocols }) =>
      protocols.slice(1).filter(({ routesByBodyModel }) => !routesByBodyModel),
    );
    const torchServe = [
      torchServeInference(this.#named),
      kserveV1(this.#named, protocolOptions(this.#options)),
    ];
    const rerankers = new ModelResolver(() => this.#catalogue, 'reranking');
    const named = [
      openAiOf(() => this.#catalogue, protocolOptions(this.#options)),
      ...[jinaOf, cohereOf, vllmOf, textEmbeddingsInferenceOf].map((of) =>
        of(rerankers, protocolOptions(this.#options)),
      ),
    ];
    const guards = this.#guarding.isConfigured
      ? [guardOf, liteLlm, detectors, moderationsOf].map((of) =>
          of(this.#guarding, protocolOptions(this.#options)),
        )
      : [];
    const protocols = withoutDuplicateRoutes([
      own,
      ...guards,
      all,
      ...named,
      ...torchServe,
      ...others,
    ]);
    const atRoot = protocols.map((protocol) => ({ protocol, at: '' }));
    const disclaimer =
      TASKS.find((task) => task.disclaimer !== null && this.#defaultOf(task))?.disclaimer ?? null;
    const { version } = this.#options;
    const described = {
      task: { summary: 'All models of a directory.', disclaimer },
      info: { service: 'models', version },
      protocols,
    };
    return {
      mounts: [...atRoot, ...this.#catalogue.flatMap((model) => this.#mountsOf(model))],
      aboutOf: aboutPaths(protocols, defaults),
      described,
      pages: [
        ...['models', 'docs'].map((name) => ({ name, at: '' })),
        ...(this.guard.isConfigured ? [{ name: 'guard', at: GUARD_PATH }] : []),
        ...this.#catalogue.flatMap(pagesOf),
      ],
    };
  }

  /** What is served on MANAGEMENT_PORT. */
  managementOf(repository: VersionedRepository): Omit<ServiceSite, 'pages'> {
    const protocol = torchServeManagement(this.#named, repository, {
      scheduling: this.#options.config.scheduling,
      isOfStartup: (name) => this.#startup.has(name),
      scaled: new WeakMap(),
    });
    return {
      mounts: [{ protocol, at: '' }],
      aboutOf: () => 'management',
      described: {
        task: { summary: 'Loading and unloading of models.', disclaimer: null },
        info: { service: 'management of models', version: this.#options.version },
        protocols: [protocol],
        hasPages: false,
      },
    };
  }

  readonly grpc = () => {
    const { maxListLength, bodyLimit, bodyMemory } = this.#options.config;
    this.#extProc ??= extProc(this.#guarding, { bodyLimit, bodyMemory }); // one: it counts what all its streams hold
    return [grpcService(this.#served, maxListLength), this.#extProc];
  };

  readonly loaded = (): readonly Sample[] =>
    this.#catalogue.flatMap(({ name, versions }) =>
      (versions.length > 0 ? versions : [UNREADABLE_FOLDER]).map(({ version, state }) => ({
        labels: { model: name, version },
        value: state === 'ready' ? 1 : 0,
      })),
    );

  readonly loadFailed = (): readonly Sample[] =>
    this.#catalogue.flatMap(({ name, versions, reason }) =>
      [...versions, ...(reason === null ? [] : [UNREADABLE_FOLDER])].map((one) => ({
        labels: { model: name, version: one.version },
        value: one.reason === null ? 0 : 1,
      })),
    );

  readonly families = (): readonly Family[] => guardMetrics(this.guard);

  readonly models = (): readonly MeasuredModel[] =>
    this.served().map((served) => this.#measure(served));

  /** Of required ones the first that is not ready; while folders are looked at for the first time that. */
  readonly problem = (): string | null => {
    const required = this.#catalogue.filter(({ isRequired }) => isRequired);
    for (const model of required) {
      const served = currentVersion(model)?.served;
      const problem = served
        ? describeHang(served.model?.monitor ?? null)
        : (unavailableReason(model) ?? 'It is loading.');
      if (problem !== null) return `Model ${model.name} is not ready: ${problem}`;
    }
    if (!this.isStarting || required.length > 0) return null;
    return this.unread ?? 'Models are being loaded.';
  };

  readonly namesOf = (name: string): readonly string[] => {
    const model = findModel(this.#catalogue, name);
    return model ? [model.name, ...model.aliases] : [];
  };

  /** All that can be asked. */
  served(): readonly ServedModel[] {
    const all = this.#catalogue.flatMap(({ versions }) =>
      versions.flatMap(({ served }) => served ?? []),
    );
    return all.filter(({ model }) => model !== null);
  }

  drop(): void {
    for (const { model } of this.served()) model?.drop();
  }

  async close(): Promise<void> {
    await Promise.all(this.served().map(({ model }) => model?.close()));
  }

  /** Those that a request means that names no model: the one that is marked, else the first by name. */
  #defaultOf(task: Task): ServedModel | null {
    const able = this.#catalogue.filter((model) => currentVersion(model)?.served?.task === task);
    const model = able.find(({ isDefault }) => isDefault) ?? able[0];
    return (model && currentVersion(model)?.served) ?? null;
  }

  /** By its name, its other names, and each with the number of a version. */
  #mountsOf(model: NamedModel): readonly Mount[] {
    const serving = currentVersion(model);
    return [model.name, ...model.aliases].flatMap((name) => [
      ...(serving ? this.#mountsAt(`${MODELS}${name}`, serving) : []),
      ...model.versions.flatMap((one) =>
        this.#mountsAt(`${MODELS}${name}${VERSIONS_SEGMENT}${one.version}`, one),
      ),
    ]);
  }

  #mountsAt(at: string, { served }: ModelVersion): readonly Mount[] {
    if (!served) return [];
    const { protocols, info } = this.#speechOf(served);
    const spoken = protocols.map((protocol) => withoutModelPaths(protocol));
    const hasPages = !at.includes(VERSIONS_SEGMENT);
    const handle = () => ({
      body: describeApi({ task: served.task, info, protocols: spoken, hasPages, at }, null),
    });
    const [first, ...others] = spoken as [Protocol, ...Protocol[]];
    const openapi: Route = { method: 'GET', path: '/openapi.json', handle, operation: null };
    const own = { ...first, routes: [...first.routes, openapi] };
    return [own, ...others].map((protocol) => ({ protocol, at }));
  }

  #info(access: Access): ModelsInfo {
    const { config, version } = this.#options;
    return {
      service: 'models',
      version,
      models: this.#catalogue
        .filter(({ name }) => access.canSee(name))
        .map((model) => this.#infoOf(model)),
      guard: this.guard.isConfigured
        ? { loaded: this.guard.guard !== null, reason: this.guard.reason }
        : null,
      limits: infoLimits(config),
    };
  }

  #infoOf(model: NamedModel): ModelsInfo['models'][number] {
    const serving = currentVersion(model);
    const task = serving?.served?.task ?? null;
    return {
      name: model.name,
      aliases: [...model.aliases],
      address: `${MODELS}${model.name}`,
      task: task?.name ?? null,
      default: task !== null && this.#defaultOf(task) === serving?.served,
      required: model.isRequired,
      serving: serving?.version ?? null,
      reason: serving ? null : unavailableReason(model),
      versions: model.versions.map(({ version, state, reason }) => ({ version, state, reason })),
    };
  }
}

/** Those that tell of all models, and no limits hold for what they tell. */
const ALL_MODELS_PATHS = ['/metrics', '/openapi.json'];

/**
 * By which keys are limited, at the root: what a protocol says of its paths; those of no protocol's own are
 * of the default models.
 */
function aboutPaths(
  protocols: readonly Protocol[],
  defaults: readonly { readonly name: string; readonly protocols: readonly Protocol[] }[],
): ServiceSite['aboutOf'] {
  const byPath = new Map<string, ProtectedResource | null>(
    ALL_MODELS_PATHS.map((path) => [path, 'all models']),
  );
  for (const { method, path } of protocols[0]?.routes ?? []) {
    if (method === 'GET') byPath.set(path, null);
  }
  // Their handlers find out which model a request names.
  for (const { routes, routesByBodyModel, resourceOf } of protocols) {
    if (!routesByBodyModel || resourceOf) continue;
    for (const { method, path } of routes) if (method !== 'GET') byPath.set(path, null);
  }
  for (const { name, protocols: spoken } of defaults) {
    for (const { routes, routesByBodyModel: namesModels } of spoken) {
      if (namesModels) continue;
      const paths = routes.map(({ path }) => path);
      for (const path of paths.filter((one) => !one.startsWith(MODELS) && !byPath.has(one)))
        byPath.set(path, { model: name });
    }
  }
  const named = protocols.flatMap(({ resourceOf }) => resourceOf ?? []);
  return (path) => {
    const known = byPath.get(path);
    if (known !== undefined) return known;
    for (const aboutOf of named) {
      const about = aboutOf(path);
      if (about) return about;
    }
    return null;
  };
}

/** The page of its task, and of its API, by all of its names. */
function pagesOf(model: NamedModel): ServiceSite['pages'] {
  const page = currentVersion(model)?.served?.task.page ?? null;
  if (page === null) return [];
  return [model.name, ...model.aliases].flatMap((name) =>
    [page, 'docs'].map((one) => ({ name: one, at: `${MODELS}${name}` })),
  );
}

/** Below the address of a model nothing names it again, and probes are those of the root. */
function withoutModelPaths(protocol: Protocol): Protocol {
  const routes = protocol.routes.filter(
    ({ method, path }) => method === 'GET' || !path.startsWith(MODELS),
  );
  return { ...protocol, routes, probes: [], prefix: null };
}

/** Of two routes on one path the first. */
function withoutDuplicateRoutes(protocols: readonly Protocol[]): readonly Protocol[] {
  const taken = new Set<string>();
  const isFree = (key: string): boolean => taken.size !== taken.add(key).size;
  return protocols.map((protocol) => ({
    ...protocol,
    prefix: protocol.prefix === MODELS && protocol !== protocols[0] ? null : protocol.prefix,
    routes: protocol.routes.filter(
      ({ method, path }) =>
        (method === 'GET' || !path.startsWith(MODELS)) && isFree(`${method} ${path}`),
    ),
  }));
}
