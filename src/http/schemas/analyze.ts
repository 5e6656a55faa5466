import { z } from 'zod';
import { expected } from './describe-issue';

/** Body of POST /analyze. */
export const analyzeBody = z.object(
  { text: z.string({ error: expected('a string') }) },
  { error: expected('an object') },
);
