import { z } from 'zod';
import { expected, object, string } from '../validation/fields';
import { textsOrIds } from '../validation/texts-or-ids';

/** Body of POST /v1/embeddings. */
export const embeddingsBody = object({
  input: textsOrIds,
  model: string().nullish().describe('Default: the default model'),
  encoding_format: z
    .enum(['float', 'base64'], { error: expected('"float" or "base64"') })
    .nullish()
    .describe('base64: little-endian float32. Default: float'),
  dimensions: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('So many of the first numbers, at most those that there are'),
});
