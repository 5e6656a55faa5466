import { ServiceError } from '../../serving/errors';
import type { TensorElement } from '../../tasks/tensors';
import { readNumbers, readTexts } from './contents';
import { describeShape, type InputSpecification, type InputTensor, invalid } from './tensor';

/**
 * Returns the inputs of a request in the order of the specifications; undefined for missing
 * optional inputs.
 *
 * @throws ServiceError that names the input
 */
export function matchInputs(
  given: readonly InputTensor[],
  specifications: readonly InputSpecification[],
): readonly (InputTensor | undefined)[] {
  const names = specifications.map(({ metadata }) => metadata.name);
  const inputs = new Map<string, InputTensor>();
  for (const [index, tensor] of given.entries()) {
    const found = specifications.find(({ metadata }) => metadata.name === tensor.name);
    if (!found) throw invalid(`inputs[${index}].name: expected ${names.join(' or ')}`);
    if (inputs.has(tensor.name)) throw invalid(`inputs[${index}].name: is there twice`);
    if (!(found.datatypes as readonly string[]).includes(tensor.datatype)) {
      const wanted = found.datatypes.join(' or ');
      throw invalid(`inputs[${index}].datatype: expected ${wanted} for ${tensor.name}`);
    }
    inputs.set(tensor.name, tensor);
  }
  for (const { metadata, optional } of specifications) {
    if (!optional && !inputs.has(metadata.name))
      throw invalid(`inputs: ${metadata.name} is required`);
  }
  return names.map((name) => inputs.get(name));
}

/**
 * Returns the number of elements: the length of the first axis, equal in all inputs.
 *
 * @param most maximum number of elements
 * @throws ServiceError that names the input
 */
export function countElements(
  inputs: readonly (InputTensor | undefined)[],
  specifications: readonly InputSpecification[],
  most: number,
): number {
  const counts = inputs.map((input, index) => {
    const [, ...rest] = specifications[index]?.metadata.shape ?? [];
    return input && elementsOf(input, rest, most);
  });
  const other = counts.findIndex((count) => count !== undefined && count !== counts[0]);
  if (other < 0) return counts[0] as number;
  const [first, wrong] = [inputs[0]?.name, inputs[other]?.name];
  throw invalid(`${wrong}: expected ${counts[0]} elements, as ${first}`);
}

/**
 * @param rest expected axes after the first axis; an additional axis of length 1 is accepted before
 *   them
 */
function elementsOf({ name, shape }: InputTensor, rest: readonly number[], most: number): number {
  const [length, ...axes] = shape;
  const accepted = [rest, [1, ...rest]].map(describeShape);
  if (length === undefined || length < 0 || !accepted.includes(describeShape(axes))) {
    const wanted = [rest, [1, ...rest]].map((tail) => describeShape(['n', ...tail])).join(' or ');
    throw invalid(`${name}: expected the shape ${wanted}, received ${describeShape(shape)}`);
  }
  if (length > most) {
    const message = `${name}: ${length} elements exceed the limit of ${most}.`;
    throw new ServiceError('LIST_TOO_LONG', message);
  }
  return length;
}

/**
 * Returns the elements of an input: texts, or the samples of windows.
 *
 * @throws ServiceError that names the input and the index
 */
export function readElements(input: InputTensor, count: number): readonly TensorElement[] {
  const { datatype } = input;
  if (datatype === 'BYTES') return readTexts(input);
  const values = readNumbers(input, datatype as 'FP32' | 'FP64');
  const length = values.length / count;
  // Plain arrays, as in JSON requests: V8 has optimized z-normalization for them.
  return Array.from({ length: count }, (_, index) =>
    Array.from(values.slice(index * length, (index + 1) * length)),
  );
}
