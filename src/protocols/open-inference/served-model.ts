import { ServiceError } from '../../serving/errors';
import type { ClassifiesSignals, ClassifiesTexts } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import type { Surroundings } from '../protocol';
import { Model, VERSION } from './model';
import { ModelStatistics } from './statistics';
import type { Datatype, TensorMetadata } from './tensor';

const SERVER = 'libtorch-serve';

/** Of Triton, beside the protocol itself: those that its clients ask for here. */
const EXTENSIONS = ['binary_tensor_data', 'classification', 'model_configuration', 'statistics'];

/** Triton's name for what runs the models. */
const PLATFORM = 'pytorch_libtorch';

const CONFIGURATION_TYPES: Readonly<Record<Datatype, string>> = {
  BYTES: 'TYPE_STRING',
  FP32: 'TYPE_FP32',
  FP64: 'TYPE_FP64',
};

/** The model of a service, and what both transports tell of it. */
export class ServedModel {
  readonly name: string;
  readonly #version: string;
  /** Null where it is not loaded: then whoever asks is told so once the request has been read. */
  readonly modelIfLoaded: Model | null;
  /** Why it is not loaded. */
  readonly #reason: string | null;
  readonly #statistics: ModelStatistics | null;

  constructor(
    { name, task, model, reason }: Served<ClassifiesTexts | ClassifiesSignals>,
    { version, listLength, gather }: Surroundings,
  ) {
    this.name = name;
    this.modelIfLoaded = model && new Model(model, task.tensors, listLength);
    this.#version = version;
    this.#reason = reason;
    this.#statistics = model && new ModelStatistics(name, model.monitor, gather);
  }

  /** @throws ServiceError NOT_READY: as Triton says of a model that it knows and could not load */
  get model(): Model {
    if (this.modelIfLoaded) return this.modelIfLoaded;
    throw new ServiceError('NOT_READY', `Model is not loaded: ${this.#reason}`);
  }

  /** Paths of the model, with its one version and without. */
  get paths(): readonly string[] {
    const path = `/v2/models/${this.name}`;
    return [path, `${path}/versions/${VERSION}`];
  }

  // Field names are as in the messages of the gRPC service, which are those of the JSON.

  describeServer() {
    return { name: SERVER, version: this.#version, extensions: EXTENSIONS };
  }

  describeMetadata() {
    const { inputs, outputs } = this.model;
    return {
      name: this.name,
      versions: [VERSION],
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

  async describeStatistics() {
    return { model_stats: this.#statistics ? [await this.#statistics.describe()] : [] };
  }
}

function configure({ name, datatype, shape }: TensorMetadata) {
  return { name, data_type: CONFIGURATION_TYPES[datatype], dims: shape };
}
