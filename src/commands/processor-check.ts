import { findDtypeProblem, limitInstructions } from '../native/addon';
import type { Config } from '../settings/config';

/**
 * Applies INSTRUCTION_SET and validates DTYPE and ATTENTION_DTYPE for this processor. Call it before a model is loaded.
 *
 * @returns error message; undefined if the settings are valid
 * @throws Error if the addon cannot be opened
 */
export function findProcessorProblem({
  service,
  instructionSet,
  scheduling: { dtype, attentionDtype },
}: Pick<Config, 'service' | 'instructionSet' | 'scheduling'>): string | undefined {
  const isSignalService = service === 'eeg';
  const isAlwaysSupported =
    isSignalService || (dtype === 'float32' && attentionDtype !== 'bfloat16');
  // Returns early if possible: another thread is still opening the addon (native/preload-addon).
  if (instructionSet === null && isAlwaysSupported) return undefined;
  const problem = limitInstructions(instructionSet);
  if (problem || isSignalService) return problem || undefined;
  return findDtypeProblem(dtype, attentionDtype, ['DTYPE', 'ATTENTION_DTYPE']);
}
