/** Samples in a window: 2.69 s at 95 Hz. */
export const WINDOW_LENGTH = 256;

/** The model's three outputs, in order. */
export const CLASSES = [
  'Control',
  "Alzheimer's Disease (AD)",
  'Frontotemporal Dementia (FTD)',
] as const;

export type Diagnosis = (typeof CLASSES)[number];
