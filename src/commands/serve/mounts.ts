/**
 * Protocols and their addresses.
 *
 *   service           address                    protocols
 *   one model         /                          createModelProtocols
 *   model repository  /                          createRepositoryProtocols
 *                     /models/NAME               createModelProtocols; also below each alias
 *                     /models/NAME/versions/N    createModelProtocols, without pages
 *                     MANAGEMENT_PORT            TorchServe's management API (RepositoryService)
 */
import type { Endpoint } from '../../batches/run-request';
import { cohereEmbed, cohereEmbedOf } from '../../protocols/cohere/embed';
import { cohereRerank, cohereRerankOf } from '../../protocols/cohere/rerank';
import { detectors } from '../../protocols/detectors/detectors-protocol';
import { huggingFace } from '../../protocols/hugging-face/hugging-face-protocol';
import { jina, jinaOf } from '../../protocols/jina/jina-protocol';
import { liteLlm } from '../../protocols/litellm/litellm-protocol';
import { ollama, ollamaOf } from '../../protocols/ollama/ollama-protocol';
import type { OpenInferenceModels } from '../../protocols/open-inference/open-inference-models';
import {
  openInference,
  openInferenceModels,
} from '../../protocols/open-inference/rest/open-inference-protocol';
import { openAiDecisions, openAiDecisionsOf } from '../../protocols/openai/decisions';
import { openAiFiles } from '../../protocols/openai/files-protocol';
import { moderationsOf } from '../../protocols/openai/moderations';
import { openAi, openAiOf } from '../../protocols/openai/openai-protocol';
import { describeApi } from '../../protocols/openapi/document';
import { guardOf } from '../../protocols/own/guard';
import type { ServiceInfo } from '../../protocols/own/info';
import { MODELS, own } from '../../protocols/own/own-protocol';
import { presidioOf } from '../../protocols/presidio/presidio-protocol';
import type { Mount, Protocol } from '../../protocols/protocol';
import type { Route } from '../../protocols/route';
import {
  textEmbeddingsInference,
  textEmbeddingsInferenceOf,
} from '../../protocols/text-embeddings-inference/tei-protocol';
import { tokenProtocols, tokenProtocolsOf } from '../../protocols/tokenize-protocol';
import { kserveV1, torchServeInference } from '../../protocols/torchserve/inference';
import type { TorchServeModels } from '../../protocols/torchserve/torchserve-models';
import { typeSafe, typeSafeOf } from '../../protocols/typesafe/typesafe-protocol';
import { v1Models, v1ModelsOf } from '../../protocols/v1-models';
import { vllm, vllmOf } from '../../protocols/vllm/vllm-protocol';
import type { GuardService } from '../../services/guard';
import { ModelResolver } from '../../services/model-resolver';
import type { ProtectedResource } from '../../serving/access';
import { streamProtocol } from '../../streaming/stream-routes';
import {
  type Catalogue,
  currentVersion,
  type ModelVersion,
  type NamedModel,
  type ServedModel,
  withCapability,
} from '../../tasks/served-model';
import { ofAddressedModel } from './ability-routes';
import { DECISIONS_SUBPAGE } from './pages';
import { protocolOptions, type ServiceOptions, type ServiceSite, serviceInfo } from './service';

/** Path segment between the name of a model and a version. */
const VERSIONS_SEGMENT = '/versions/';

/** Paths of the root that report on all models and ignore the scope of API keys. */
const ALL_MODELS_PATHS = ['/metrics', '/openapi.json'];

/** Protocols of a model next to the server's own; a factory returns null for a model without the capability. */
const MODEL_PROTOCOLS = [
  huggingFace,
  textEmbeddingsInference,
  openAi,
  openAiDecisions,
  typeSafe,
  openInference,
  jina,
  cohereRerank,
  cohereEmbed,
  ollama,
  vllm,
  v1Models,
  tokenProtocols,
];

/** Paths of the routes that batches can call, in the formats of OpenAI and Jina. */
const BATCH_PATHS = ['/v1/embeddings', '/v1/moderations', '/v1/rerank'];

/** Protocols of the guardrail. */
const GUARD_PROTOCOLS = [guardOf, liteLlm, detectors, moderationsOf];

/** Protocols whose requests name an embedding model. */
const EMBEDDING_PROTOCOLS = [openAiOf, cohereEmbedOf, ollamaOf];

/** Protocols whose requests name a reranking model. */
const RERANKING_PROTOCOLS = [jinaOf, cohereRerankOf, vllmOf, textEmbeddingsInferenceOf];

/** Protocols whose requests name a model that answers questions. */
const DECISION_PROTOCOLS = [openAiDecisionsOf, typeSafeOf];

/** Protocols of one model, the server's own first, and the response of its GET /info. */
export interface ModelProtocols {
  readonly protocols: readonly [Protocol, ...Protocol[]];
  readonly info: ServiceInfo;
}

export function createModelProtocols(
  served: ServedModel,
  serviceOptions: ServiceOptions,
): ModelProtocols {
  const { config, version, streams } = serviceOptions;
  const options = protocolOptions(serviceOptions);
  const others = [
    ...MODEL_PROTOCOLS.flatMap((protocol) => protocol(served, options) ?? []),
    streamProtocol(served, streams, version),
  ];
  const info = serviceInfo(served, version, config);
  return { protocols: [own(served, options, { service: info, others }), ...others], info };
}

/** Protocols of the default model of a task. */
export interface DefaultModel {
  readonly name: string;
  readonly protocols: ModelProtocols['protocols'];
}

export interface RepositoryParts {
  readonly own: Protocol;
  readonly guard: GuardService;
  readonly openInference: OpenInferenceModels;
  readonly torchServe: TorchServeModels;
  readonly catalogue: () => Catalogue;
  /** Protocols of models at the root. */
  readonly ofModels: readonly Protocol[];
}

/** Protocols of a model repository at the root. If two protocols have the same route, the first protocol serves it. */
export function createRepositoryProtocols(
  { own, guard, openInference, torchServe, catalogue, ofModels }: RepositoryParts,
  serviceOptions: ServiceOptions,
): readonly Protocol[] {
  const options = protocolOptions(serviceOptions);
  const embedders = new ModelResolver(catalogue, ['embedding']);
  const rerankers = new ModelResolver(catalogue, ['reranking']);
  const deciders = new ModelResolver(catalogue, ['decision']);
  return withoutDuplicateRoutes([
    own,
    ...(guard.isConfigured ? GUARD_PROTOCOLS.map((create) => create(guard, options)) : []),
    openInferenceModels(openInference, options),
    ...EMBEDDING_PROTOCOLS.map((create) => create(embedders, options, catalogue)),
    ...RERANKING_PROTOCOLS.map((create) => create(rerankers, options)),
    ...DECISION_PROTOCOLS.map((create) => create(deciders, options)),
    ...tokenProtocolsOf(catalogue, options),
    presidioOf(catalogue, options),
    ...openAiFiles(serviceOptions.batches),
    torchServeInference(torchServe),
    kserveV1(torchServe, options),
    v1ModelsOf(torchServe),
    ...ofModels,
  ]);
}

/** Routes that batches can call, by path. */
export function batchEndpoints({
  mounts,
  resourceOf,
}: Pick<ServiceSite, 'mounts' | 'resourceOf'>): ReadonlyMap<string, Endpoint> {
  const endpoints = mounts.flatMap(({ at, protocol: { routes, errors } }) =>
    routes
      .filter(({ method, path }) => at === '' && method === 'POST' && BATCH_PATHS.includes(path))
      .map(({ path, handle }) => [path, { resource: resourceOf(path), handle, errors }] as const),
  );
  return new Map(endpoints);
}

/** Mounts of a model below its name and aliases, and of each version. */
export function mountsOf(
  model: NamedModel,
  protocolsOf: (served: ServedModel) => ModelProtocols,
): readonly Mount[] {
  const mountsAt = (at: string, { served }: ModelVersion, hasPages: boolean): readonly Mount[] =>
    served
      ? mountsBelow(at, served, { ...protocolsOf(served), aliases: model.aliases, hasPages })
      : [];
  const current = currentVersion(model);
  return [model.name, ...model.aliases].flatMap((name) => [
    ...(current ? mountsAt(`${MODELS}${name}`, current, true) : []),
    ...model.versions.flatMap((version) =>
      mountsAt(`${MODELS}${name}${VERSIONS_SEGMENT}${version.version}`, version, false),
    ),
  ]);
}

function mountsBelow(
  at: string,
  served: ServedModel,
  {
    protocols: all,
    info,
    aliases,
    hasPages,
  }: ModelProtocols & Pick<NamedModel, 'aliases'> & { readonly hasPages: boolean },
): readonly Mount[] {
  const { task } = served;
  const protocols = all.map(withoutModelPaths).map((protocol) => ({
    ...protocol,
    routes: protocol.routes.map((route) => ofAddressedModel(route, served, aliases)),
  }));
  const handle = () => ({ body: describeApi({ task, info, protocols, hasPages, at }, null) });
  const openApi: Route = { method: 'GET', path: '/openapi.json', handle, operation: null };
  return protocols.map((protocol, index) => ({
    protocol: index === 0 ? { ...protocol, routes: [...protocol.routes, openApi] } : protocol,
    at,
  }));
}

/**
 * Pages of a model below its name and aliases: its task's page and the API documentation, and a page of decisions if the
 * model answers questions and its own page does not.
 */
export function pagesOf(model: NamedModel): ServiceSite['pages'] {
  const served = currentVersion(model)?.served;
  const page = served?.task.page ?? null;
  if (!served || page === null) return [];
  const hasSubpage = page !== 'decisions' && withCapability(served, 'decision') !== null;
  return [model.name, ...model.aliases].flatMap((name) => {
    const at = `${MODELS}${name}`;
    return [
      { name: page, at },
      { name: 'docs', at },
      ...(hasSubpage ? [{ name: DECISIONS_SUBPAGE, at: `${at}/decisions` }] : []),
    ];
  });
}

/**
 * Protected resource of each path at the root of a model repository: as the protocol specifies, or the default model
 * whose protocol has the path. Null: no model.
 */
export function rootResources(
  protocols: readonly Protocol[],
  defaults: readonly DefaultModel[],
): ServiceSite['resourceOf'] {
  const byPath = new Map<string, ProtectedResource | null>(
    ALL_MODELS_PATHS.map((path) => [path, 'all models']),
  );
  for (const { method, path } of protocols[0]?.routes ?? []) {
    if (method === 'GET') byPath.set(path, null);
  }
  // The handlers of these routes check the access to the model in the body.
  for (const { routes, routesByBodyModel, resourceOf } of protocols) {
    const isByBodyModel = routesByBodyModel && !resourceOf;
    for (const { method, path, abilities } of routes) {
      if (method !== 'GET' && (isByBodyModel || abilities)) byPath.set(path, null);
    }
  }
  for (const { name, protocols: ofModel } of defaults) {
    const paths = ofModel
      .filter(({ routesByBodyModel }) => !routesByBodyModel)
      .flatMap(({ routes }) => routes.map(({ path }) => path));
    for (const path of paths)
      if (!path.startsWith(MODELS) && !byPath.has(path)) byPath.set(path, { model: name });
  }
  const byProtocol = protocols.flatMap(({ resourceOf }) => resourceOf ?? []);
  return (path) => {
    const resource = byPath.get(path);
    if (resource !== undefined) return resource;
    for (const resourceOf of byProtocol) {
      const found = resourceOf(path);
      if (found) return found;
    }
    return null;
  };
}

/** Removes the routes below /models/NAME and the probes: below the address of a model, the root has them. */
function withoutModelPaths(protocol: Protocol): Protocol {
  const routes = protocol.routes.filter(
    ({ method, path }) => method === 'GET' || !path.startsWith(MODELS),
  );
  return { ...protocol, routes, probes: [], prefix: null };
}

function withoutDuplicateRoutes(protocols: readonly Protocol[]): readonly Protocol[] {
  const keys = new Set<string>();
  const isNew = (key: string): boolean => keys.size !== keys.add(key).size;
  return protocols.map((protocol) => ({
    ...protocol,
    prefix: protocol.prefix === MODELS && protocol !== protocols[0] ? null : protocol.prefix,
    routes: protocol.routes.filter(
      ({ method, path }) =>
        (method === 'GET' || !path.startsWith(MODELS)) && isNew(`${method} ${path}`),
    ),
  }));
}
