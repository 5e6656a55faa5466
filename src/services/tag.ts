import type { Inference } from '../native/engine';
import type { ServiceRequest } from '../serving/service-request';
import type {
  TokenClassification,
  TokenClassificationInput,
  TokenClassifier,
} from '../tasks/capabilities';
import type { ServedModel } from '../tasks/served-model';
import {
  type Span,
  type SpanOptions,
  type Strategy,
  toSpans,
} from '../tasks/token-classification/spans';
import { inferList, requireModel } from './inference';

/** Settings of token classification, as in the pipeline of transformers. */
export interface TagSettings {
  /** Default: Viterbi decoding if the model has it, otherwise `simple`. */
  readonly aggregation_strategy?: Strategy | null | undefined;
  /** Default: `O`. */
  readonly ignore_labels?: readonly string[] | null | undefined;
  /** Overlap of windows in tokens; null or undefined: long texts are truncated. */
  readonly stride?: number | null | undefined;
}

/** Entities of a text. */
export interface TaggedText {
  readonly text: string;
  /** In the order of the text. */
  readonly spans: readonly Span[];
  /** The text was longer than the model allows and was truncated. */
  readonly isTruncated: boolean;
}

type Caller = Pick<ServiceRequest, 'inferOptions'>;

/** Token classification (NER) of a text. @throws ServiceError MODEL_NOT_LOADED; EngineError */
export async function tagText(
  caller: Caller,
  served: ServedModel<TokenClassifier>,
  text: string,
  settings: TagSettings,
): Promise<{ readonly tagged: TaggedText; readonly inferences: readonly Inference[] }> {
  const model = requireModel(served.model);
  const prediction = await model.run(inputOf(text, settings), caller.inferOptions(served));
  const tagged = await findSpans(prediction, model, spanOptions(settings));
  return { tagged, inferences: [prediction.inference] };
}

/**
 * Token classification (NER) of texts, as one request to the queue.
 *
 * @param field name of the list in the request, for errors of one text; null: the request is not a list
 * @throws ServiceError MODEL_NOT_LOADED; EngineError, ElementError
 */
export async function tagTexts(
  caller: Caller,
  served: ServedModel<TokenClassifier>,
  texts: readonly string[],
  { field, ...settings }: TagSettings & { readonly field: string | null },
): Promise<{ readonly tagged: readonly TaggedText[]; readonly inferences: readonly Inference[] }> {
  const model = requireModel(served.model);
  const inputs = texts.map((text) => inputOf(text, settings));
  const options = caller.inferOptions(served);
  const { predictions, inferences } = await inferList(model, inputs, options, field);
  const spanSettings = spanOptions(settings);
  const tagged: TaggedText[] = [];
  for (const prediction of predictions) {
    tagged.push(await findSpans(prediction, model, spanSettings));
  }
  return { tagged, inferences };
}

function inputOf(text: string, { stride }: TagSettings): TokenClassificationInput {
  return typeof stride === 'number' ? { text, stride } : { text };
}

function spanOptions({ aggregation_strategy, ignore_labels }: TagSettings): SpanOptions {
  const ignoreLabels = ignore_labels && new Set(ignore_labels);
  return { strategy: aggregation_strategy, ignoreLabels };
}

async function findSpans(
  prediction: TokenClassification,
  model: TokenClassifier,
  options: SpanOptions,
): Promise<TaggedText> {
  const spans = await toSpans(prediction, model, options);
  return { text: prediction.text, spans, isTruncated: prediction.inference.truncated };
}
