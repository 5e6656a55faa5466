import { z } from 'zod';
import { expected } from './describe-issue';
import { listOf } from './list';

/** Body of POST /analyze. */
export const analyzeBody = z.object(
  { text: z.string({ error: expected('a string') }) },
  { error: expected('an object') },
);

/** Body of POST /analyze/batch. */
export const analyzeBatchBody = z.object(
  {
    texts: listOf<string>('an array of strings', (element) =>
      typeof element === 'string' ? null : { message: 'expected a string', path: [] },
    ).meta({ type: 'array', items: { type: 'string' } }),
  },
  { error: expected('an object') },
);
