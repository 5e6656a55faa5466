/**
 * Requests, and what the shipped models answer to them; test/http/openapi.test.ts asks them. Scores
 * may differ in the fourth decimal with the processor.
 */
export const TEXT_EXAMPLES = {
  single: {
    request: { text: 'A warm, funny film that never outstays its welcome.' },
    answer: {
      input_text: 'A warm, funny film that never outstays its welcome.',
      label: 'POSITIVE',
      score: 0.982,
    },
  },
  batch: {
    request: { texts: ['A warm, funny film.', 'Dull.'] },
    answer: {
      results: [
        {
          input_text: 'A warm, funny film.',
          label: 'POSITIVE',
          score: 0.9823,
          probabilities: { NEGATIVE: 0.0177, POSITIVE: 0.9823 },
          truncated: false,
        },
        {
          input_text: 'Dull.',
          label: 'NEGATIVE',
          score: 0.9736,
          probabilities: { NEGATIVE: 0.9736, POSITIVE: 0.0264 },
          truncated: false,
        },
      ],
    },
  },
} as const;

/** Two sine waves, no recording of anybody. */
const SIGNAL: readonly number[] = Array.from({ length: 256 }, (_, i) =>
  Number((20 * Math.sin(i / 1.5) + 5 * Math.sin(i / 7)).toFixed(2)),
);

export const SIGNAL_EXAMPLES = {
  single: {
    request: { signal: SIGNAL, patient_id: 'P001' },
    answer: { patient_id: 'P001', diagnosis: 'Control', confidence: 0.8814 },
  },
  batch: {
    request: { signals: [SIGNAL], patient_id: 'P001' },
    answer: {
      results: [
        {
          patient_id: 'P001',
          diagnosis: 'Control',
          confidence: 0.8814,
          probabilities: {
            Control: 0.8814,
            "Alzheimer's Disease (AD)": 0.1186,
            'Frontotemporal Dementia (FTD)': 0.0001,
          },
        },
      ],
    },
  },
} as const;

/** Of no model that is shipped. */
export const TAG_EXAMPLES = {
  single: {
    request: { text: 'Ada Lovelace lived in London.' },
    answer: {
      input_text: 'Ada Lovelace lived in London.',
      tags: [
        { label: 'PER', score: 0.9981, word: 'Ada Lovelace', start: 0, end: 12 },
        { label: 'LOC', score: 0.9994, word: 'London', start: 22, end: 28 },
      ],
      truncated: false,
    },
  },
  batch: {
    request: { texts: ['London calling.'], ignore_labels: ['O', 'PER'] },
    answer: {
      results: [
        {
          input_text: 'London calling.',
          tags: [{ label: 'LOC', score: 0.9989, word: 'London', start: 0, end: 6 }],
          truncated: false,
        },
      ],
    },
  },
} as const;
