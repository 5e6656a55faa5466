import type { Model } from './model';
import { VERSION } from './model';
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

/** Field names as in the messages of the gRPC service, which are those of the JSON. */
export function describeServer(version: string) {
  return { name: SERVER, version, extensions: EXTENSIONS };
}

export function describeModel(name: string, { inputs, outputs }: Model) {
  return {
    name,
    versions: [VERSION],
    platform: PLATFORM,
    // What may be left out is not among what Triton's tools make up values for.
    inputs: inputs.map(({ metadata }) => metadata),
    outputs,
  };
}

/** As Triton's model_config.proto has it; what is not said has its default. */
export function describeConfiguration(name: string, { inputs, outputs }: Model) {
  const describe = ({ name, datatype, shape }: TensorMetadata) => ({
    name,
    data_type: CONFIGURATION_TYPES[datatype],
    dims: shape,
  });
  return {
    name,
    platform: PLATFORM,
    backend: 'pytorch',
    max_batch_size: 0, // that is, shapes are whole: the first axis is that of the elements
    input: inputs.map(({ metadata, optional }) => ({ ...describe(metadata), optional })),
    output: outputs.map(describe),
  };
}
