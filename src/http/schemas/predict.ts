import { z } from 'zod';
import { expected } from './describe-issue';

/**
 * An array of finite numbers, checked up to the first offender. zod's own `z.array(z.number())`
 * reports every one: a body of 200,000 nulls would hold the event loop for half a second.
 */
const numbers = z.unknown().transform((value, context): readonly number[] => {
  if (!Array.isArray(value)) {
    const message = expected('an array of numbers')({ input: value });
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  const index = value.findIndex((element) => !Number.isFinite(element));
  if (index < 0) return value;
  // A number that is not finite was written too large for a double, such as 1e400.
  const what = typeof value[index] === 'number' ? 'a finite number' : 'a number';
  context.addIssue({ code: 'custom', message: `expected ${what}`, path: [index] });
  return z.NEVER;
});

/** Body of POST /predict. `signal`: one window, in any linear unit (it is z-normalized). */
export const predictBody = z.object(
  {
    signal: numbers,
    patient_id: z
      .string({ error: expected('a string or null') })
      .nullable()
      .default(null),
  },
  { error: expected('an object') },
);
