/** Signal quality flags, in the order of responses. */
export const QUALITY_FLAGS = [
  'not_finite',
  'flat',
  'clipped',
  'amplitude',
  'jump',
  'mains_hum',
] as const;
export type QualityFlag = (typeof QUALITY_FLAGS)[number];

/** Thresholds of the signal quality flags. Amplitudes are in the unit of the samples. */
export interface QualitySettings {
  /** Maximum peak-to-peak amplitude of a flat window. */
  readonly flatBelow: number;
  /** Minimum share of clipped samples: samples at the minimum or maximum in runs of 3 or more. */
  readonly clippedShare: number;
  /** Minimum and maximum valid sample; null: no limits. */
  readonly amplitudeRange: readonly [number, number] | null;
  /** Maximum difference between consecutive samples; null: no limit. */
  readonly jumpAbove: number | null;
  /** Mains frequencies in Hz. */
  readonly mainsHz: readonly number[];
  /** Minimum share of the window's power at mains frequencies. */
  readonly mainsShare: number;
  /**
   * Flags of windows that the model skips. Windows with the flag `not_finite` are always skipped.
   */
  readonly unusable: readonly QualityFlag[];
}

export const DEFAULT_QUALITY: QualitySettings = {
  flatBelow: 0,
  clippedShare: 0.02,
  amplitudeRange: null,
  jumpAbove: null,
  mainsHz: [50, 60],
  mainsShare: 0.5,
  unusable: [],
};
