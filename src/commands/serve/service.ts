import type { BatchService } from '../../batches/batch-service';
import { addon } from '../../native/addon';
import type { GrpcService } from '../../protocols/grpc-service';
import type { DocumentedService } from '../../protocols/openapi/document';
import type { Mount, ProtocolOptions } from '../../protocols/protocol';
import type { NamesOf, ProtectedResource } from '../../serving/access';
import type { Log } from '../../serving/log';
import type { Family, Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import type { Config } from '../../settings/config';
import type { Streams } from '../../streaming/streams';
import { CAPABILITIES } from '../../tasks/capabilities';
import { type ServedModel, withCapability } from '../../tasks/served-model';
import type { Task } from '../../tasks/task';
import type { TaskModel } from '../../tasks/task-model';
import type { PageName } from './pages';

/** Maximum length of a double in JSON, such as -1.7976931348623157e+308, and a comma, in bytes. */
const MAX_NUMBER_BYTES = 25;

/** Models of the process as the servers serve them; changes while models are loaded and unloaded. */
export interface Service {
  /** Names of a model for the scope of API keys. */
  readonly namesOf: NamesOf;
  /** HTTP routes, pages and OpenAPI document. */
  readonly site: ServiceSite;
  readonly grpc: () => readonly GrpcService[];
  /** Metric samples: whether each model is loaded. */
  readonly loaded: () => readonly Sample[];
  /** Metric samples: whether the last load of each model failed; null: models are loaded only once. */
  readonly loadFailed: (() => readonly Sample[]) | null;
  /** Loaded models, for their metrics. */
  readonly models: () => readonly MeasuredModel[];
  /** Further metrics. */
  readonly families?: () => readonly Family[];
  /** Why the service is not ready; null: it is ready. */
  readonly problem: () => string | null;
}

export interface ServiceSite {
  readonly mounts: readonly Mount[];
  /** Protected resource of a path, for the scope of API keys. */
  readonly resourceOf: (path: string) => ProtectedResource | null;
  /** Content of the OpenAPI document. */
  readonly documentation: DocumentedService;
  /** Pages and their addresses: empty for the root, or the address of a model. */
  readonly pages: readonly { readonly name: PageName; readonly at: string }[];
}

export interface ServiceOptions {
  readonly config: Config;
  /** Version of the package. */
  readonly version: string;
  readonly streams: Streams;
  /** Null: FILES_DIR is not set. */
  readonly batches: BatchService | null;
}

export function protocolOptions({ config, version }: ServiceOptions): ProtocolOptions {
  const { scheduling, maxListLength, bodyLimit, responseLimit, requestTimeoutMs } = config;
  const listLength = maxListLength;
  return { version, scheduling, listLength, bodyLimit, responseLimit, requestTimeoutMs };
}

/** Describes a loaded model for its metrics. */
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

/** Response of GET /info, without the fields of protocols. */
export function serviceInfo(served: ServedModel, version: string, config: Config) {
  const { task, model, title, reason, version: modelVersion } = served;
  return {
    service: config.service,
    version,
    model: {
      name: title,
      version: modelVersion,
      loaded: model !== null,
      reason,
      ...(model && { ...embeddingInfo(served), ...loadedModelInfo(task, model, config) }),
      ...(model && {
        abilities: CAPABILITIES.filter((ability) => withCapability(served, ability) !== null),
      }),
    },
    limits: infoLimits(config),
  };
}

/** Limits in the response of GET /info. */
export function infoLimits(config: Config) {
  const { bodyLimit, responseLimit, maxListLength, requestTimeoutMs } = config;
  return {
    body_bytes: bodyLimit,
    response_bytes: responseLimit,
    list_length: maxListLength,
    request_timeout_ms: requestTimeoutMs,
  };
}

/** Fields of a model that embeds texts in addition to its task; empty: no such model. */
function embeddingInfo(served: ServedModel): object {
  const embedder = withCapability(served, 'embedding');
  if (!embedder?.model || embedder.task === served.task) return {};
  const { metadata, monitor } = embedder.model as unknown as TaskModel;
  return embedder.task.info.of(metadata, monitor.description);
}

function loadedModelInfo(task: Task, { metadata, monitor }: TaskModel, { scheduling }: Config) {
  const { linear, attention, instructions } = monitor.description.products;
  return {
    ...task.info.of(metadata, monitor.description),
    dtype: dtypeOf(task, scheduling),
    products: { linear, ...(attention && { attention }), instructions },
  };
}

/** Number format of the matrix multiplications of a task's models. */
function dtypeOf({ inputKind }: Task, { dtype }: Config['scheduling']): string {
  return inputKind === 'signals' ? 'float32' : (dtype ?? 'float32');
}

/** Logs a loaded model, its warnings, and a BODY_LIMIT that is too small for its input. */
export function logLoaded(
  task: Task,
  modelPath: string,
  { metadata, monitor, warnings }: TaskModel,
  { config, logger }: { readonly config: Config; readonly logger: Log['logger'] },
): void {
  const { products, maxLength } = monitor.description;
  logger.info({ ...task.logFields(metadata), products }, 'model loaded');
  for (const warning of warnings) logger.warn({ model: modelPath }, warning);
  const bytes = maxLength * MAX_NUMBER_BYTES;
  if (task.inputKind === 'signals' && bytes > config.bodyLimit) {
    logger.warn(
      `BODY_LIMIT: ${config.bodyLimit} bytes can be too small for a window of ${maxLength} samples. ` +
        `Set it to ${bytes}`,
    );
  }
}
