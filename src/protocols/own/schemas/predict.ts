import {
  findListProblem,
  findNumberProblem,
  listOf,
  object,
  repeatedString,
} from '../../validation/fields';

const NUMBERS = 'an array of numbers';

/** What a double holds; JSON can write larger ones. */
const NUMBERS_SCHEMA = {
  type: 'array',
  items: { type: 'number', minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE },
  description: 'One window, in any linear unit: the service z-normalizes it',
} as const;

const patientId = repeatedString('a string or null')
  .nullable()
  .default(null)
  .describe('Comes back in the answer, and is written nowhere else');

/** Body of POST /predict. `signal`: one window, in any linear unit (it is z-normalized). */
export const predictBody = object({
  signal: listOf<number>(NUMBERS, findNumberProblem).meta(NUMBERS_SCHEMA),
  patient_id: patientId,
});

/** Body of POST /predict/batch: windows of one patient. */
export const predictBatchBody = object({
  signals: listOf<readonly number[]>('an array of signals', (element) =>
    findListProblem(element, NUMBERS, findNumberProblem),
  ).meta({ type: 'array', items: NUMBERS_SCHEMA, description: 'Windows of one patient' }),
  patient_id: patientId,
});
