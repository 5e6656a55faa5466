import type { Dtype, ProductNumbers } from './binding';
import { addon } from './engine';

/**
 * Returns why this processor does not support a number format, or undefined.
 *
 * @param settingNames names in the message: those of the embedded API by default
 */
export function findDtypeProblem(
  dtype: Dtype,
  attentionDtype: ProductNumbers = 'auto',
  settingNames: readonly [dtype: string, attentionDtype: string] = ['dtype', 'attentionDtype'],
): string | undefined {
  const problem = addon().dtypeProblem(dtype, attentionDtype);
  if (!problem) return undefined;
  const isDtype = addon().dtypeProblem(dtype, 'auto') !== '';
  const name = settingNames[isDtype ? 0 : 1];
  const value = isDtype ? dtype : attentionDtype;
  return `${name}: ${value} cannot be used on this processor: ${problem}. Unset ${name}`;
}
