import { z } from 'zod';
import { quoted } from '../../models/json';
import type { ConstantInput } from '../../native/engine';

/** Maximum number of values in all constant inputs of a model. */
const MAX_VALUES = 100_000;

/** Maximum number of dimensions. */
const MAX_DIMENSIONS = 8;

/** Maximum number of constant inputs. */
const MAX_INPUTS = 16;

type Given = Readonly<Record<string, unknown>>;

/** A value that is not a nested array of numbers with equal lengths. */
class NestingError extends Error {
  /** Indices from the input to the value. */
  readonly path: readonly number[];

  constructor(path: readonly number[], message: string) {
    super(message);
    this.path = path;
  }
}

/** Nested numbers by the name of the input. */
export const constantInputsSchema = z
  .record(z.string(), z.unknown(), {
    error: ({ input }) =>
      `expected an object of numbers or nested arrays of numbers, found ${quoted(input)}`,
  })
  .superRefine((given, context) => {
    const problem = findProblem(given);
    if (problem) context.addIssue({ code: 'custom', ...problem });
  });

function findProblem(given: Given): { path: (string | number)[]; message: string } | null {
  const names = Object.keys(given);
  if (names.length > MAX_INPUTS) {
    return { path: [], message: `expected up to ${MAX_INPUTS} inputs, found ${names.length}` };
  }
  let count = 0;
  for (const name of names) {
    try {
      count += toConstantInput(name, given[name]).values.length;
    } catch (error) {
      if (!(error instanceof NestingError)) throw error;
      return { path: [name, ...error.path], message: error.message };
    }
    if (count > MAX_VALUES) {
      return { path: [name], message: `expected up to ${MAX_VALUES} values in all inputs` };
    }
  }
  return null;
}

/** @param given checked by the schema */
export function toConstantInputs(given: Given | undefined): ConstantInput[] {
  return Object.entries(given ?? {}).map(([name, value]) => toConstantInput(name, value));
}

/** @throws NestingError */
function toConstantInput(name: string, value: unknown): ConstantInput {
  const shape = shapeOf(value);
  const values: number[] = [];
  appendValues(value, shape, [], values);
  return { name, shape, values: Float64Array.from(values) };
}

/** Lengths along the first elements. */
function shapeOf(value: unknown): number[] {
  const shape: number[] = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) {
    if (shape.push(inner.length) > MAX_DIMENSIONS) {
      throw new NestingError([], `expected up to ${MAX_DIMENSIONS} dimensions`);
    }
    if (inner.length === 0) throw new NestingError([], 'expected no empty array');
  }
  return shape;
}

function appendValues(
  value: unknown,
  [length, ...inner]: readonly number[],
  path: readonly number[],
  values: number[],
): void {
  if (length === undefined) {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new NestingError(path, `expected a finite number, found ${quoted(value)}`);
    }
    values.push(value);
    return;
  }
  if (!Array.isArray(value) || value.length !== length) {
    const found = Array.isArray(value) ? `${value.length} elements` : quoted(value);
    throw new NestingError(path, `expected an array of ${length} elements, found ${found}`);
  }
  for (const [index, element] of value.entries()) {
    appendValues(element, inner, [...path, index], values);
  }
}
