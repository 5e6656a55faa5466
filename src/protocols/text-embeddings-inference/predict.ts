import type { TextInput } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import { timingsOf } from '../../serving/timings';
import type { ClassifiesTexts } from '../../tasks/abilities';
import { rank } from '../../tasks/text-classification/ranking';
import { type Endpoint, namingElement, parseBody, requireModel } from '../endpoint';
import type { Surroundings } from '../protocol';
import { predictBody } from './body';

/** POST /predict: labels by falling score, in a list for one input and in a list of lists for a batch. */
export function predict(
  classifier: ClassifiesTexts | null,
  { listLength }: Surroundings,
): Endpoint {
  return {
    path: '/predict',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const body = parseBody(predictBody, call);
      const { texts, isBatch } = body.inputs;
      requireBatchSize(texts, listLength);
      texts.forEach(isBatch ? requireTextOfBatch : requireText);
      const model = requireModel(classifier);
      const cut = cutting(body.truncate ?? true, body.truncation_direction);
      const running = model.runAll(
        texts.map((text) => ({ ...text, ...cut })),
        call.inferOptions(),
      );
      const all = await (isBatch ? namingElement('inputs', running) : running);
      const scoreFunction = body.raw_scores ? 'none' : null;
      const answers = all.map((one) => rank(model.about.labels, one, { scoreFunction }));
      const inferences = all.map(({ inference }) => inference);
      const total = performance.now() - call.startedAt;
      const queued = timingsOf(inferences)?.queueMs ?? 0;
      return {
        body: isBatch ? answers : (answers[0] as object),
        inferences,
        headers: {
          'X-Compute-Type': 'cpu',
          'X-Total-Time': Math.round(total),
          'X-Compute-Time': Math.max(0, Math.round(total - queued)),
        },
      };
    },
  };
}

function cutting(
  truncate: boolean,
  direction: 'left' | 'right' | undefined,
): Pick<TextInput, 'truncation' | 'truncationSide'> {
  return {
    ...(!truncate && { truncation: 'do_not_truncate' }),
    ...(direction && { truncationSide: direction }),
  };
}

function requireBatchSize({ length }: readonly unknown[], limit: number): void {
  if (length <= limit) return;
  const message = `batch size ${length} > maximum allowed batch size ${limit}`;
  throw new ServiceError('LIST_TOO_LONG', message);
}

function requireTextOfBatch(input: TextInput, index: number): void {
  if (input.text === '' || input.pair === '') throw empty(`inputs[${index}]`);
}

function requireText({ text, pair }: TextInput): void {
  if (text === '' || pair === '') throw empty('inputs');
}

function empty(place: string): ServiceError {
  return new ServiceError('INPUT_EMPTY', `Input validation error: \`${place}\` cannot be empty`);
}
