import type { Dtype, ProductNumbers } from './binding';
import { addon } from './engine';

/** What this processor cannot serve of DTYPE and PRODUCTS, and why. */
export interface DtypeProblem {
  readonly setting: 'dtype' | 'products';
  readonly value: string;
  readonly problem: string;
}

/** Undefined: this processor serves both. */
export function findDtypeProblem(
  dtype: Dtype,
  products: ProductNumbers = 'auto',
): DtypeProblem | undefined {
  const problem = addon().dtypeProblem(dtype, products);
  if (!problem) return undefined;
  const isOfDtype = addon().dtypeProblem(dtype, 'auto') !== '';
  return isOfDtype
    ? { setting: 'dtype', value: dtype, problem }
    : { setting: 'products', value: products, problem };
}
