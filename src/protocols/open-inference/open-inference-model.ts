import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { ServedModel } from '../../tasks/served-model';
import type { ProtocolOptions } from '../protocol';
import { type ModelStatistics, statisticsOf } from './statistics';
import type { Datatype, InferRequest, TensorMetadata } from './tensor';
import { type InferResult, TensorModel } from './tensor-model';

/** Triton's platform name for PyTorch models. */
const PLATFORM = 'pytorch_libtorch';

const CONFIGURATION_TYPES: Readonly<Record<Datatype, string>> = {
  BYTES: 'TYPE_STRING',
  FP32: 'TYPE_FP32',
  FP64: 'TYPE_FP64',
  UINT32: 'TYPE_UINT32',
};

/** Model version with its metadata for both transports. */
export class OpenInferenceModel {
  readonly name: string;
  readonly version: string;
  /** Loaded model; null: the request is rejected after it has been read. */
  readonly modelIfLoaded: TensorModel | null;
  /** Served model; null: the version failed to load or is loading. */
  readonly #served: ServedModel<unknown> | null;
  /** Reason why the model is not loaded. */
  readonly #reason: string | null;
  readonly #statistics: ModelStatistics | null;

  /** @param served null: the model is not loaded */
  constructor(
    { name, version, reason }: { name: string; version: string; reason: string | null },
    served: ServedModel | null,
    limits: Pick<ProtocolOptions, 'listLength' | 'responseLimit'>,
  ) {
    const model = served?.model ?? null;
    this.name = name;
    this.version = version;
    this.modelIfLoaded = model && served && new TensorModel(model, served.task.tensors, limits);
    this.#served = served;
    this.#reason = reason;
    this.#statistics = served && statisticsOf(served);
  }

  /** Runs the model on an inference request, see `TensorModel.infer`. */
  async infer(
    request: InferRequest,
    call: Pick<ServiceRequest, 'inferOptions'>,
    numberBytes: (output: string) => number,
  ): Promise<InferResult> {
    const target = this.#served ?? this;
    const options = () => call.inferOptions(target, request.timeoutMs);
    return this.model.infer(request, options, numberBytes);
  }

  /**
   * Loaded model.
   *
   * @throws ServiceError NOT_READY if the model is not loaded, as in Triton
   */
  get model(): TensorModel {
    if (this.modelIfLoaded) return this.modelIfLoaded;
    throw new ServiceError('NOT_READY', `Model is not loaded: ${this.#reason}`);
  }

  // The methods below return fields with their names in the gRPC messages, which equal the JSON
  // names.

  /** @param versions available versions */
  describeMetadata(versions: readonly string[]) {
    const { inputs, outputs } = this.model;
    return {
      name: this.name,
      versions,
      platform: PLATFORM,
      inputs: inputs.map(({ metadata }) => metadata),
      outputs,
    };
  }

  /** Returns Triton's model_config.proto. Missing fields have their defaults. */
  describeConfiguration() {
    const { inputs, outputs } = this.model;
    return {
      name: this.name,
      platform: PLATFORM,
      backend: 'pytorch',
      max_batch_size: 0, // shapes include the batch axis
      input: inputs.map(({ metadata, optional }) => ({ ...configure(metadata), optional })),
      output: outputs.map(configure),
    };
  }

  /** Returns the statistics; null if the model is not loaded. */
  async describeStatistics() {
    return this.#statistics?.describe(this) ?? null;
  }
}

function configure({ name, datatype, shape }: TensorMetadata) {
  return { name, data_type: CONFIGURATION_TYPES[datatype], dims: shape };
}
