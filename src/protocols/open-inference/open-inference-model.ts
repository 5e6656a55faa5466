import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { ServedModel } from '../../tasks/served-model';
import type { ProtocolOptions } from '../protocol';
import { type ModelStatistics, statisticsOf } from './statistics';
import type { Datatype, InferRequest, TensorMetadata } from './tensor';
import { type InferResult, TensorModel } from './tensor-model';

/** Triton's name for what runs the models. */
const PLATFORM = 'pytorch_libtorch';

const CONFIGURATION_TYPES: Readonly<Record<Datatype, string>> = {
  BYTES: 'TYPE_STRING',
  FP32: 'TYPE_FP32',
  FP64: 'TYPE_FP64',
  UINT32: 'TYPE_UINT32',
};

/** A version of a model, and what both transports tell of it. */
export class OpenInferenceModel {
  readonly name: string;
  readonly version: string;
  /** Null where it is not loaded: then whoever asks is told so once the request has been read. */
  readonly modelIfLoaded: TensorModel | null;
  /** Null: there is nothing of it. */
  readonly #served: ServedModel<unknown> | null;
  /** Why it is not loaded. */
  readonly #reason: string | null;
  readonly #statistics: ModelStatistics | null;

  /** @param served null: there is nothing of it but the reason */
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

  /** Runs it on what a request brings, see `Model.infer`. */
  async infer(
    request: InferRequest,
    call: Pick<ServiceRequest, 'inferOptions'>,
    numberBytes: (output: string) => number,
  ): Promise<InferResult> {
    const asked = this.#served ?? this;
    const options = () => call.inferOptions(asked, request.timeoutMs);
    return this.model.infer(request, options, numberBytes);
  }

  /** @throws ServiceError NOT_READY: as Triton says of a model that it knows and could not load */
  get model(): TensorModel {
    if (this.modelIfLoaded) return this.modelIfLoaded;
    throw new ServiceError('NOT_READY', `Model is not loaded: ${this.#reason}`);
  }

  // Field names are as in the messages of the gRPC service, which are those of the JSON.

  /** @param versions all that can be asked */
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

  /** As Triton's model_config.proto has it; what is not said has its default. */
  describeConfiguration() {
    const { inputs, outputs } = this.model;
    return {
      name: this.name,
      platform: PLATFORM,
      backend: 'pytorch',
      max_batch_size: 0, // that is, shapes are whole: the first axis is that of the elements
      input: inputs.map(({ metadata, optional }) => ({ ...configure(metadata), optional })),
      output: outputs.map(configure),
    };
  }

  /** Null: it is not loaded. */
  async describeStatistics() {
    return this.#statistics?.describe(this) ?? null;
  }
}

function configure({ name, datatype, shape }: TensorMetadata) {
  return { name, data_type: CONFIGURATION_TYPES[datatype], dims: shape };
}
