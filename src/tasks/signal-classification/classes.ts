/** Samples in a window, unless the model has settings: 2.69 s at 95 Hz. */
export const WINDOW_LENGTH = 256;

/** The model's three outputs, in order, unless it has settings. */
export const CLASSES = [
  'Control',
  "Alzheimer's Disease (AD)",
  'Frontotemporal Dementia (FTD)',
] as const;
