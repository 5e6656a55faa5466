import { findDtypeProblem } from '../native/dtype-problem';
import { limitInstructions } from '../native/engine';
import type { Config } from '../settings/config';

/**
 * What is wrong with the settings on this processor, in one line; undefined: nothing. Call it before a
 * model is loaded: from here on INSTRUCTIONS holds.
 *
 * @throws Error when the addon cannot be opened
 */
export function findProcessorProblem({
  service,
  instructions,
  scheduling: { dtype, products },
}: Pick<Config, 'service' | 'instructions' | 'scheduling'>): string | undefined {
  const isOfSignals = service === 'eeg';
  const isOfAnyProcessor = isOfSignals || (dtype === 'float32' && products !== 'bfloat16');
  // The addon is still being opened by another thread (native/open-early): nobody waits for nothing.
  if (instructions === null && isOfAnyProcessor) return undefined;
  const limit = limitInstructions(instructions);
  if (limit || isOfSignals) return limit || undefined;
  const found = findDtypeProblem(dtype, products);
  if (!found) return undefined;
  const { setting, value, problem } = found;
  return `${setting.toUpperCase()}: ${value} is of no use here: ${problem}; leave it unset`;
}
