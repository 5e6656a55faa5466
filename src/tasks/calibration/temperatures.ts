/** Temperatures that `calibrate` fits and files can have. */
export const TEMPERATURES = { min: 0.05, max: 20 } as const;
