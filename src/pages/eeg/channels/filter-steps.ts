import type { StepSettings } from '../../../preprocessing/schema';

/** Order of the Butterworth filters. */
const ORDER = 4;
/** Quality of the notch filter: frequency divided by the width at -3 dB. */
const QUALITY = 30;

/** Frequencies in Hz; null: none. */
interface DisplayFilter {
  readonly highPass: number | null;
  readonly lowPass: number | null;
  readonly notch: number | null;
  readonly phase: 'zero' | 'causal';
}

/** Steps of the filter, as in the settings of a model. A causal filter starts as after a constant signal. */
export function filterSteps({
  highPass: high,
  lowPass: low,
  notch: mains,
  phase,
}: DisplayFilter): readonly StepSettings[] {
  const start = { phase, initial: 'steady' } as const;
  const band = { high_pass_hz: high, low_pass_hz: low, order: ORDER };
  return [
    ...(high !== null || low !== null ? [{ type: 'filter', ...band, ...start } as const] : []),
    ...(mains !== null
      ? [{ type: 'notch', frequency_hz: mains, quality: QUALITY, ...start } as const]
      : []),
  ];
}
