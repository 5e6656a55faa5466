import type { Inference } from '../native/engine';
import { Expressions } from '../native/expressions';
import { PatternError } from '../native/patterns';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import { findEntities } from '../tasks/entity-recognition/find-entities';
import {
  type AdHocRecognizer,
  type AnalyzeOptions,
  type EntityFinder,
  flagsPrefix,
  PiiAnalyzer,
} from '../tasks/pii/analyze';
import { PATTERN_RECOGNIZERS } from '../tasks/pii/recognizers';
import { explain, type FoundPii, type PiiResult } from '../tasks/pii/results';
import { type Catalogue, currentVersion, withCapability } from '../tasks/served-model';
import { toSpans } from '../tasks/token-classification/spans';
import { ModelResolver } from './model-resolver';

/** Entities that only models find, by the labels of token classifiers. Source: Presidio, conf/spacy.yaml. */
const ENTITY_OF_LABEL: Readonly<Record<string, string>> = {
  PER: 'PERSON',
  PERSON: 'PERSON',
  NORP: 'NRP',
  LOC: 'LOCATION',
  LOCATION: 'LOCATION',
  GPE: 'LOCATION',
  FAC: 'LOCATION',
  DATE: 'DATE_TIME',
  TIME: 'DATE_TIME',
  PRIVATE_PERSON: 'PERSON',
  PRIVATE_ADDRESS: 'LOCATION',
  PRIVATE_DATE: 'DATE_TIME',
};

/** Labels by which a GLiNER model finds these entities. */
const GLINER_LABELS = [
  { name: 'PERSON', prompt: 'person' },
  { name: 'LOCATION', prompt: 'location' },
  { name: 'NRP', prompt: 'nationality, religious or political group' },
  { name: 'DATE_TIME', prompt: 'date or time' },
];
const GLINER_THRESHOLD = 0.5;

const MODEL_ENTITIES = ['PERSON', 'LOCATION', 'NRP', 'DATE_TIME'];
/** Name of the recognizer of models, as clients of Presidio know it. */
const MODEL_RECOGNIZER = 'SpacyRecognizer';

export interface PiiRequest extends AnalyzeOptions {
  readonly allowList: readonly string[];
  /** Null: results that equal an entry are allowed; flags: results that contain a match of one are. */
  readonly allowListFlags: number | null;
}

/** Finds personal data with patterns and, for names and places, with the models of the server. */
export class PiiService {
  readonly #catalogue: () => Catalogue;
  #analyzer: Promise<PiiAnalyzer> | null = null;

  constructor(catalogue: () => Catalogue) {
    this.#catalogue = catalogue;
  }

  /** Names of the recognizers. */
  get recognizers(): readonly string[] {
    const names = [...PATTERN_RECOGNIZERS.map(({ name }) => name), 'PhoneRecognizer'];
    return this.#hasModel ? [...names, MODEL_RECOGNIZER] : names;
  }

  /** Entities that can be found, sorted. */
  get entities(): readonly string[] {
    const names = [...PATTERN_RECOGNIZERS.map(({ entity }) => entity), 'PHONE_NUMBER'];
    return [...new Set([...names, ...(this.#hasModel ? MODEL_ENTITIES : [])])].sort();
  }

  /**
   * Finds personal data in texts.
   *
   * @returns results of each text, and inferences of the models
   * @throws ServiceError REQUEST_INVALID: a pattern of the request is invalid; EngineError
   */
  async analyze(
    caller: Pick<ServiceRequest, 'inferOptions' | 'access'>,
    texts: readonly string[],
    request: PiiRequest,
  ): Promise<{
    readonly results: readonly (readonly PiiResult[])[];
    readonly inferences: readonly Inference[];
  }> {
    this.#analyzer ??= PiiAnalyzer.create();
    const analyzer = await this.#analyzer;
    const inferences: Inference[] = [];
    const finder = this.#needsModel(request) ? this.#finder(caller, inferences) : null;
    const allow = await allowListOf(request);
    const results: (readonly PiiResult[])[] = [];
    for (const text of texts) {
      const found = await withPatternErrors(request.adHoc, () =>
        analyzer.analyze(text, finder ? [finder] : [], request),
      );
      results.push(await allow(text, found));
    }
    return { results, inferences };
  }

  get #hasModel(): boolean {
    return this.#catalogue().some((model) => {
      const served = currentVersion(model)?.served;
      return (
        served &&
        (withCapability(served, 'entity-recognition') ||
          withCapability(served, 'token-classification'))
      );
    });
  }

  #needsModel({ entities }: PiiRequest): boolean {
    return (
      this.#hasModel &&
      (entities === null || MODEL_ENTITIES.some((entity) => entities.includes(entity)))
    );
  }

  /** The default model of entity recognition, otherwise of token classification. */
  #finder(
    caller: Pick<ServiceRequest, 'inferOptions' | 'access'>,
    inferences: Inference[],
  ): EntityFinder {
    const isGliner = this.#catalogue().some((model) => {
      const served = currentVersion(model)?.served;
      return served && withCapability(served, 'entity-recognition');
    });
    if (isGliner) {
      const served = new ModelResolver(this.#catalogue, ['entity-recognition']).resolve(
        null,
        caller,
      );
      const options = {
        labels: GLINER_LABELS,
        threshold: GLINER_THRESHOLD,
        isFlat: true,
        isMultiLabel: false,
      };
      return async (text) => {
        const infer = caller.inferOptions(served);
        const found = await findEntities(served.model, [text], options, infer);
        inferences.push(...found.inferences);
        return (found.entities[0] ?? []).map(({ label, ...span }) => toResult(label, span));
      };
    }
    const served = new ModelResolver(this.#catalogue, ['token-classification']).resolve(
      null,
      caller,
    );
    return async (text) => {
      const input = { text, stride: Math.floor(served.model.maxLength / 4) };
      const prediction = await served.model.run(input, caller.inferOptions(served));
      inferences.push(prediction.inference);
      const spans = await toSpans(prediction, served.model, {});
      return spans.flatMap(({ label, ...span }) => {
        const entity = ENTITY_OF_LABEL[label.toUpperCase()];
        return entity ? [toResult(entity, span)] : [];
      });
    };
  }
}

function toResult(
  entity: string,
  { start, end, score }: { readonly start: number; readonly end: number; readonly score: number },
): FoundPii {
  const textual_explanation = `Identified as ${entity} by a model`;
  const explanation = explain(MODEL_RECOGNIZER, score, { textual_explanation });
  return { entity, start, end, score, context: null, explanation };
}

/** Maps the index of an invalid pattern to its recognizer. */
async function withPatternErrors<Result>(
  adHoc: readonly AdHocRecognizer[],
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const names = adHoc.map(({ name }) => name).join(', ');
    const message = `ad_hoc_recognizers: a pattern of ${names} is invalid: ${error.message}`;
    throw new ServiceError('REQUEST_INVALID', message);
  }
}

/** Removes results that the request allows. */
async function allowListOf({ allowList, allowListFlags }: PiiRequest) {
  type Filter = (text: string, results: readonly PiiResult[]) => Promise<readonly PiiResult[]>;
  const all: Filter = async (_, results) => results;
  const terms = allowList.filter((term) => term !== '');
  if (terms.length === 0) return all;
  if (allowListFlags === null) {
    const allowed = new Set(terms);
    const exact: Filter = async (text, results) =>
      results.filter(({ start, end }) => !allowed.has(text.slice(start, end)));
    return exact;
  }
  const pattern = flagsPrefix(allowListFlags) + terms.join('|');
  const expressions = await Expressions.compile([pattern]).catch((error: Error) => {
    throw new ServiceError('REQUEST_INVALID', `allow_list: ${error.message}`);
  });
  const search: Filter = async (text, results) => {
    const kept: PiiResult[] = [];
    for (const result of results) {
      const word = text.slice(result.start, result.end);
      const { matches } = await expressions.findAll(word, { maxMatches: 1, timeoutMs: 1000 });
      if (matches.length === 0) kept.push(result);
    }
    return kept;
  };
  return search;
}
