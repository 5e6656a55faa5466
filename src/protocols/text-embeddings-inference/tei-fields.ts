import { z } from 'zod';
import type { Inference, TextInput } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import { timingsOf } from '../../serving/request-context';
import { expected, string } from '../validation/fields';

/** Fields of truncation. */
export const TRUNCATION_FIELDS = {
  truncate: z
    .boolean({ error: expected('true, false or null') })
    .nullish()
    .describe('false: reject texts longer than the model allows (422). Default: truncate them'),
  truncation_direction: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['left', 'right'], { error: expected('"left" or "right"') }),
    )
    .optional()
    .describe('The end that is truncated. Default: as the tokenizer specifies'),
};

export const prompt_name = string()
  .nullish()
  .describe('Name of a prompt of the model, prepended to each text. Default: its default prompt');

const truncationSchema = z.object(TRUNCATION_FIELDS);

export function truncationOf({
  truncate,
  truncation_direction: direction,
}: z.output<typeof truncationSchema>): Pick<TextInput, 'truncation' | 'truncationSide'> {
  return {
    ...(truncate === false && { truncation: 'do_not_truncate' }),
    ...(direction && { truncationSide: direction }),
  };
}

/** @throws ServiceError LIST_TOO_LONG, with the message of text-embeddings-inference */
export function requireBatchSize(list: readonly unknown[], limit: number): void {
  if (list.length <= limit) return;
  const message = `batch size ${list.length} > maximum allowed batch size ${limit}`;
  throw new ServiceError('LIST_TOO_LONG', message);
}

/** Timing headers of text-embeddings-inference. @param startedAt `performance.now()` when the request arrived */
export function timingHeaders(startedAt: number, inferences: readonly Inference[]) {
  const total = performance.now() - startedAt;
  const queued = timingsOf(inferences)?.queueMs ?? 0;
  return {
    'X-Compute-Type': 'cpu',
    'X-Total-Time': Math.round(total),
    'X-Compute-Time': Math.max(0, Math.round(total - queued)),
  };
}
