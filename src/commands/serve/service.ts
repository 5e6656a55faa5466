import { addon } from '../../native/addon';
import { cohere } from '../../protocols/cohere/cohere-protocol';
import type { GrpcService } from '../../protocols/grpc-service';
import { huggingFace } from '../../protocols/hugging-face/hugging-face-protocol';
import { jina } from '../../protocols/jina/jina-protocol';
import { openInference } from '../../protocols/open-inference/rest/open-inference-protocol';
import { openAi } from '../../protocols/openai/openai-protocol';
import type { DocumentedService } from '../../protocols/openapi/document';
import type { ServiceInfo } from '../../protocols/own/info';
import { own } from '../../protocols/own/own-protocol';
import type { Mount, Protocol, ProtocolOptions } from '../../protocols/protocol';
import { textEmbeddingsInference } from '../../protocols/text-embeddings-inference/tei-protocol';
import { v1Models } from '../../protocols/torchserve/v1-models';
import { vllm } from '../../protocols/vllm/vllm-protocol';
import type { NamesOf, ProtectedResource } from '../../serving/access';
import type { Log } from '../../serving/log';
import type { Family, Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import type { Config } from '../../settings/config';
import { streamProtocol } from '../../streaming/stream-routes';
import type { Streams } from '../../streaming/streams';
import type { ServedModel } from '../../tasks/served-model';
import type { Task } from '../../tasks/task';
import type { TaskModel } from '../../tasks/task-model';
import type { PageName } from './pages';

/** A double as JSON writes it, such as -1.7976931348623157e+308, and a comma. */
const MAX_NUMBER_BYTES = 25;

/** What a service speaks beside its own protocol; those that cannot ask the model are left out. */
const PROTOCOLS = [
  huggingFace,
  textEmbeddingsInference,
  openAi,
  openInference,
  jina,
  cohere,
  vllm,
  v1Models,
];

/** What one process serves, at this moment. */
export interface Service {
  /** For keys that are limited to models. */
  readonly namesOf: NamesOf;
  /** Over HTTP, and what the OpenAPI document says of it. */
  readonly site: ServiceSite;
  readonly grpc: () => readonly GrpcService[];
  /** For the metrics: whether each model is loaded, and those that are. */
  readonly loaded: () => readonly Sample[];
  /** Whether what is in their folders could not be loaded; null: they have none that is looked at again. */
  readonly loadFailed: (() => readonly Sample[]) | null;
  readonly models: () => readonly MeasuredModel[];
  /** What else is counted. */
  readonly families?: () => readonly Family[];
  /** Why requests should not be sent here; null: they should. */
  readonly problem: () => string | null;
  /** Refuses what comes and what waits; what runs goes on. */
  drop(): void;
  close(): Promise<void>;
}

export interface ServiceSite {
  readonly mounts: readonly Mount[];
  /** By which keys are limited, of any path. */
  readonly aboutOf: (path: string) => ProtectedResource | null;
  readonly described: DocumentedService;
  /** Which pages are where: at the root, or below the address of a model. */
  readonly pages: readonly { readonly name: PageName; readonly at: string }[];
}

export interface ServiceOptions {
  readonly config: Config;
  /** Of the package. */
  readonly version: string;
  readonly streams: Streams;
}

/** What a model speaks, its own protocol first, and its GET /info. */
export function createProtocols(
  served: ServedModel,
  options: ServiceOptions,
): { readonly protocols: readonly [Protocol, ...Protocol[]]; readonly info: ServiceInfo } {
  const { config, version, streams } = options;
  const surroundings = protocolOptions(options);
  const others = [
    ...PROTOCOLS.flatMap((protocol) => protocol(served, surroundings) ?? []),
    streamProtocol(served, streams, version),
  ];
  const info = serviceInfo(served, version, config);
  return { protocols: [own(served, surroundings, { service: info, others }), ...others], info };
}

export function protocolOptions({ config, version }: ServiceOptions): ProtocolOptions {
  const {
    scheduling,
    maxListLength: listLength,
    bodyLimit,
    responseLimit,
    requestTimeoutMs,
  } = config;
  return { version, scheduling, listLength, bodyLimit, responseLimit, requestTimeoutMs };
}

/** For the metrics. */
export function measure(
  { task, title, version, model }: ServedModel,
  options: ServiceOptions,
  labels: MeasuredModel['labels'],
): MeasuredModel {
  return {
    engine: (model as TaskModel).monitor,
    labels,
    info: {
      name: title,
      version: version ?? '',
      dtype: dtypeOf(task, options.config.scheduling),
      packageVersion: options.version,
      libtorchVersion: addon().versions.libtorch,
      tokenizes: task.inputKind === 'texts',
    },
  };
}

/** The answer of GET /info, without what protocols say there. */
function serviceInfo({ task, model, ...served }: ServedModel, version: string, config: Config) {
  const { title, reason } = served;
  return {
    service: config.service,
    version,
    model: {
      name: title,
      version: served.version,
      loaded: model !== null,
      reason,
      ...(model && loadedModelInfo(task, model, config)),
    },
    limits: infoLimits(config),
  };
}

/** For GET /info. */
export function infoLimits(config: Config) {
  const { bodyLimit, responseLimit, maxListLength, requestTimeoutMs } = config;
  return {
    body_bytes: bodyLimit,
    response_bytes: responseLimit,
    list_length: maxListLength,
    request_timeout_ms: requestTimeoutMs,
  };
}

function loadedModelInfo(task: Task, { metadata, monitor }: TaskModel, { scheduling }: Config) {
  const { linear, attention, instructions } = monitor.description.products;
  return {
    ...task.info.of(metadata, monitor.description),
    dtype: dtypeOf(task, scheduling),
    products: { linear, ...(attention && { attention }), instructions },
  };
}

/** In which numbers its models multiply. */
function dtypeOf({ inputKind }: Task, { dtype }: Config['scheduling']): string {
  return inputKind === 'signals' ? 'float32' : (dtype ?? 'float32');
}

/** Logs what was loaded, and what about it is hardly meant. */
export function logLoaded(
  task: Task,
  place: string,
  { metadata, monitor, warnings }: TaskModel,
  { config, log }: { readonly config: Config; readonly log: Log },
): void {
  const { products, maxLength } = monitor.description;
  log.logger.info({ ...task.logFields(metadata), products }, 'model loaded');
  for (const warning of warnings) log.logger.warn({ model: place }, warning);
  const bytes = maxLength * MAX_NUMBER_BYTES;
  if (task.inputKind === 'signals' && bytes > config.bodyLimit) {
    log.logger.warn(
      `BODY_LIMIT: ${config.bodyLimit} bytes may not hold a window of ${maxLength} samples: ` +
        `set it to ${bytes}`,
    );
  }
}
