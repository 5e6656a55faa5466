import { extProc } from '../../protocols/envoy/service';
import type { GrpcService } from '../../protocols/grpc-service';
import { grpcService } from '../../protocols/open-inference/grpc/open-inference-service';
import { OpenInferenceModels } from '../../protocols/open-inference/open-inference-models';
import type { ModelsInfo } from '../../protocols/own/info';
import { MODELS, ownOfModels } from '../../protocols/own/own-protocol';
import type { Route } from '../../protocols/route';
import { torchServeManagement } from '../../protocols/torchserve/management';
import { torchServeFamilies } from '../../protocols/torchserve/torchserve-metrics';
import { TorchServeModels } from '../../protocols/torchserve/torchserve-models';
import type { ModelManager } from '../../repository/model-manager';
import { GuardService } from '../../services/guard';
import type { Access } from '../../serving/access';
import type { Family, Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import { describeHang } from '../../serving/watchdog';
import { TASKS } from '../../tasks/registry';
import {
  currentVersion,
  findModel,
  memoizeByModel,
  type NamedModel,
  type ServedModel,
  unavailableReason,
} from '../../tasks/served-model';
import type { Task } from '../../tasks/task';
import { AbilityRoutes } from './ability-routes';
import { guardMetrics } from './guard-metrics';
import {
  createModelProtocols,
  createRepositoryProtocols,
  mountsOf,
  pagesOf,
  rootResources,
} from './mounts';
import {
  infoLimits,
  measure,
  protocolOptions,
  type Service,
  type ServiceOptions,
  type ServiceSite,
} from './service';

/** Address of the guardrail page. */
const GUARD_PATH = '/guard';
/** Stands in metrics for the versions of an unreadable model folder. */
const UNREADABLE_FOLDER = { version: '', state: 'failed', reason: '' } as const;

/** Serves all models of a model repository (see mounts.ts for the addresses). */
export class RepositoryService implements Service {
  readonly #options: ServiceOptions;
  readonly #manager: ModelManager;
  readonly #openInference: OpenInferenceModels;
  readonly #torchServe = new TorchServeModels(() => this.#manager.catalogue);
  readonly #guard: GuardService;
  readonly #abilityRoutes: AbilityRoutes;
  /** Created on first use, and only once: it counts the memory of all its streams. */
  #extProc: GrpcService | null = null;

  constructor(options: ServiceOptions, manager: ModelManager) {
    this.#options = options;
    this.#manager = manager;
    const catalogue = () => manager.catalogue;
    this.#openInference = new OpenInferenceModels(catalogue, protocolOptions(options), manager.api);
    this.#guard = new GuardService(manager.guard, catalogue);
    this.#abilityRoutes = new AbilityRoutes(
      catalogue,
      (served) => this.#protocolsOf(served).protocols,
    );
  }

  readonly #protocolsOf = memoizeByModel((served) => createModelProtocols(served, this.#options));

  readonly #measure = memoizeByModel((served) => {
    const version = served.version ?? '';
    const measured = measure(served, this.#options, { model: served.name, version });
    const additional = () => torchServeFamilies(measured.engine, { name: served.name, version });
    return { ...measured, additional };
  });

  get site(): ServiceSite {
    const { catalogue } = this.#manager;
    const defaults = TASKS.flatMap((task) => this.#defaultModelOf(task) ?? []);
    const loaded = catalogue.flatMap((model) => currentVersion(model)?.served ?? []);
    const others = loaded.filter((served) => !defaults.includes(served));
    const roots = this.#abilityRoutes.atRoot(defaults, others);
    const documented = createRepositoryProtocols(
      {
        own: this.#ownProtocol(roots.flatMap(([own]) => own.routes)),
        guard: this.#guard,
        openInference: this.#openInference,
        torchServe: this.#torchServe,
        catalogue: () => this.#manager.catalogue,
        ofModels: roots.flatMap(([, ...ofModel]) => ofModel),
      },
      this.#options,
    );
    const protocols = [...documented, ...this.#abilityRoutes.missing()];
    const disclaimer =
      TASKS.find((task) => task.disclaimer !== null && this.#defaultModelOf(task))?.disclaimer ??
      null;
    return {
      mounts: [
        ...protocols.map((protocol) => ({ protocol, at: '' })),
        ...catalogue.flatMap((model) => mountsOf(model, this.#protocolsOf)),
      ],
      resourceOf: rootResources(
        protocols,
        defaults.map((served) => ({ name: served.name, ...this.#protocolsOf(served) })),
      ),
      documentation: {
        task: { summary: 'All models of a model repository.', disclaimer },
        info: { service: 'models', version: this.#options.version },
        protocols: documented,
      },
      pages: [
        { name: 'models', at: '' },
        { name: 'docs', at: '' },
        ...(this.#guard.isConfigured ? [{ name: 'guard', at: GUARD_PATH }] : []),
        ...catalogue.flatMap(pagesOf),
      ],
    };
  }

  /** Creates the site of MANAGEMENT_PORT. */
  createManagementSite(): Omit<ServiceSite, 'pages'> {
    const { api, startupNames } = this.#manager;
    const protocol = torchServeManagement(this.#torchServe, api, {
      scheduling: this.#options.config.scheduling,
      isOfStartup: (name) => startupNames.has(name),
      scaled: new WeakMap(),
    });
    return {
      mounts: [{ protocol, at: '' }],
      resourceOf: () => 'management',
      documentation: {
        task: { summary: 'Loading and unloading of models.', disclaimer: null },
        info: { service: 'management of models', version: this.#options.version },
        protocols: [protocol],
        hasPages: false,
      },
    };
  }

  readonly grpc = () => {
    const { maxListLength, bodyLimit, bodyMemory } = this.#options.config;
    this.#extProc ??= extProc(this.#guard, { bodyLimit, bodyMemory });
    return [grpcService(this.#openInference, maxListLength), this.#extProc];
  };

  readonly loaded = (): readonly Sample[] =>
    this.#manager.catalogue.flatMap(({ name, versions }) =>
      (versions.length > 0 ? versions : [UNREADABLE_FOLDER]).map(({ version, state }) => ({
        labels: { model: name, version },
        value: state === 'ready' ? 1 : 0,
      })),
    );

  readonly loadFailed = (): readonly Sample[] =>
    this.#manager.catalogue.flatMap(({ name, versions, reason: folderReason }) =>
      [...versions, ...(folderReason === null ? [] : [UNREADABLE_FOLDER])].map(
        ({ version, reason }) => ({
          labels: { model: name, version },
          value: reason === null ? 0 : 1,
        }),
      ),
    );

  readonly families = (): readonly Family[] => guardMetrics(this.#manager.guard);

  readonly models = (): readonly MeasuredModel[] => this.#manager.served.map(this.#measure);

  /** The first required model that is not ready; without required models, whether the start is complete. */
  readonly problem = (): string | null => {
    const { catalogue, isStarting, startProblem } = this.#manager;
    const required = catalogue.filter(({ isRequired }) => isRequired);
    for (const model of required) {
      const served = currentVersion(model)?.served;
      const problem = served
        ? describeHang(served.model?.monitor ?? null)
        : (unavailableReason(model) ?? 'It is loading.');
      if (problem !== null) return `Model ${model.name} is not ready: ${problem}`;
    }
    if (!isStarting || required.length > 0) return null;
    return startProblem ?? 'Models are being loaded.';
  };

  readonly namesOf = (name: string): readonly string[] => {
    const model = findModel(this.#manager.catalogue, name);
    return model ? [model.name, ...model.aliases] : [];
  };

  /** Default model of a task: the model with `default` in its model.json, or the first by name. */
  #defaultModelOf(task: Task): ServedModel | null {
    const models = this.#manager.catalogue.filter(
      (model) => currentVersion(model)?.served?.task === task,
    );
    const model = models.find(({ isDefault }) => isDefault) ?? models[0];
    return (model && currentVersion(model)?.served) ?? null;
  }

  #ownProtocol(routes: readonly Route[]) {
    const names = (access: Access) =>
      this.#manager.catalogue.map(({ name }) => name).filter((name) => access.canSee(name));
    return ownOfModels(
      {
        info: (access) => this.#info(access),
        isAnyLoaded: () => this.#manager.served.length > 0,
        names,
      },
      routes.filter(({ method }) => method !== 'GET'),
    );
  }

  #info(access: Access): ModelsInfo {
    const { config, version } = this.#options;
    const { catalogue, guard } = this.#manager;
    return {
      service: 'models',
      version,
      models: catalogue
        .filter(({ name }) => access.canSee(name))
        .map((model) => this.#infoOf(model)),
      guard: guard.isConfigured ? { loaded: guard.guard !== null, reason: guard.reason } : null,
      limits: infoLimits(config),
    };
  }

  #infoOf(model: NamedModel): ModelsInfo['models'][number] {
    const current = currentVersion(model);
    const task = current?.served?.task ?? null;
    return {
      name: model.name,
      aliases: [...model.aliases],
      address: `${MODELS}${model.name}`,
      task: task?.name ?? null,
      default: task !== null && this.#defaultModelOf(task) === current?.served,
      required: model.isRequired,
      serving: current?.version ?? null,
      reason: current ? null : unavailableReason(model),
      versions: model.versions.map(({ version, state, reason }) => ({ version, state, reason })),
    };
  }
}
