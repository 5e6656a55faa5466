import { allFinite, softmax } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import {
  EngineError,
  type Inference,
  type InferOptions,
  type TextInput,
  type TokenInput,
} from '../../native/engine';
import type { ClassifierMetadata, EntailmentMetadata } from '../capabilities';
import type { Prediction } from '../predictor';
import { remainingOptions } from '../remaining-options';
import type { Task } from '../task';
import type { TaskModel } from '../task-model';
import { DEFAULT_TEMPLATES, hypothesesOf, isNegated } from './hypotheses';
import { PairFrame } from './pair-frame';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Question,
  QuestionAnswer,
} from './questions';

/** Maximum number of tokens of all pairs of a request, about 8 bytes each. */
const MAX_TOKENS = 2 ** 22;

interface NliMetadata extends ClassifierMetadata, Partial<Pick<EntailmentMetadata, 'entailment'>> {
  /** Index of the output that config.json calls entailment; null: no such output. */
  readonly namedEntailment: number | null;
}

/** Text pairs, or their tokens, to logits. */
type Logits = TaskModel<TextInput | TokenInput, Prediction, ClassifierMetadata>;

/** A text pair of a question. */
interface Pair {
  readonly question: number;
  readonly tokens: TokenInput;
  readonly isTruncated: boolean;
}

/**
 * Creates the decision model of an NLI model; null: another model. The state is the premise, each option a hypothesis.
 * Source of the rules: Ollaya, `families/nli`.
 */
export function createNliDecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  if (!task.capabilities.includes('text-classification') || task.inputKind !== 'texts') return null;
  const metadata = model.metadata as NliMetadata;
  const entailment = metadata.entailment ?? metadata.namedEntailment;
  if (entailment === null || metadata.labels.length < 2) return null;
  const logitsTask = task as unknown as Task<
    TextInput | TokenInput,
    Prediction,
    ClassifierMetadata
  >;
  const logits = model.withTask({ ...logitsTask, ...LOGITS }, metadata);
  return new NliDecisionModel(logits, entailment);
}

/** The outputs of the model without a score function, of inputs that are not divided into windows. */
const LOGITS: Pick<
  Task<TextInput | TokenInput, Prediction, ClassifierMetadata>,
  'prepare' | 'toPrediction'
> = {
  prepare: (input) => input,
  toPrediction: (inference, _, index) => {
    if (allFinite(inference.values)) return { inference };
    const message = 'The model returned an output that is not finite.';
    throw new EngineError('INFERENCE_FAILED', message, { index });
  },
};

class NliDecisionModel implements DecisionModel {
  readonly readsWindows = false;
  readonly #model: Logits;
  readonly #entailment: number;
  #frame: PairFrame | null = null;

  constructor(model: Logits, entailment: number) {
    this.#model = model;
    this.#entailment = entailment;
  }

  get metadata(): ClassifierMetadata {
    return this.#model.metadata;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async decide(request: DecisionRequest, options: InferOptions): Promise<Decision> {
    const { questions, state } = request;
    const remaining = remainingOptions(options);
    const hypotheses = hypothesesOf(questions, this.metadata.hypotheses ?? DEFAULT_TEMPLATES);
    const frame = await this.#findFrame(remaining);
    const texts = [state, ...hypotheses.flat()];
    const tokenized = await this.#model.tokenize(texts, false, remaining());
    const [stateTokens, ...tokens] = tokenized.map(({ places }) => places?.ids as Uint32Array);
    const owners = hypotheses.flatMap((own, question) => own.map(() => question));
    const pairs = await this.#composePairs(frame, request, {
      state: stateTokens as Uint32Array,
      hypotheses: tokens.map((ids, index) => ({ ids, question: owners[index] as number })),
    });
    const inferences = await this.#run(pairs, remaining());
    const tokenizationMs = Math.max(...tokenized.map((one) => one.tokenizationMs));
    let end = 0;
    const answers = questions.map((question, index) => {
      const begin = end;
      end += hypotheses[index]?.length ?? 0;
      return this.#answer(question, inferences.slice(begin, end));
    });
    return { answers, inferences: inferences.map((one) => ({ ...one, tokenizationMs })) };
  }

  /** The special tokens of a pair, which the first request finds with a short pair. */
  async #findFrame(remaining: () => InferOptions): Promise<PairFrame> {
    if (this.#frame === null) {
      const pair = { text: 'a', pair: 'a', isPair: true, places: true };
      this.#frame = new PairFrame((await this.#model.run(pair, remaining())).inference);
    }
    return this.#frame;
  }

  /** Truncates the state, never a hypothesis. @throws EngineError INPUT_TOO_LONG with the index of a question */
  async #composePairs(
    frame: PairFrame,
    { truncationSide }: Pick<DecisionRequest, 'truncationSide'>,
    {
      state,
      hypotheses,
    }: {
      readonly state: Uint32Array;
      readonly hypotheses: readonly { readonly ids: Uint32Array; readonly question: number }[];
    },
  ): Promise<readonly Pair[]> {
    const { maxLength } = this.#model;
    const rooms = hypotheses.map(({ ids, question }) => {
      const room = maxLength - frame.length - ids.length;
      if (room > 0 || (room === 0 && state.length === 0)) return Math.min(room, state.length);
      const message = `A hypothesis of the question has ${ids.length} tokens and leaves none for the state, the model takes ${maxLength}. Shorten the instructions and the options.`;
      throw new EngineError('INPUT_TOO_LONG', message, { index: question });
    });
    requireTokens(
      hypotheses.reduce((sum, { ids }, i) => sum + frame.length + ids.length + (rooms[i] ?? 0), 0),
    );
    return mapInTimeSlices(hypotheses, ({ ids, question }, index) => {
      const room = rooms[index] as number;
      const begin = truncationSide === 'left' ? state.length - room : 0;
      const premise = state.subarray(begin, begin + room);
      return { question, tokens: frame.compose(premise, ids), isTruncated: room < state.length };
    });
  }

  async #run(pairs: readonly Pair[], options: InferOptions): Promise<readonly Inference[]> {
    try {
      const inputs = pairs.map(({ tokens }) => tokens);
      const predictions = await this.#model.runAll(inputs, options);
      return predictions.map(({ inference }, index) => ({
        ...inference,
        truncated: pairs[index]?.isTruncated ?? false,
      }));
    } catch (error) {
      if (!(error instanceof EngineError) || error.index === null) throw error;
      const index = pairs[error.index]?.question ?? null;
      throw new EngineError(error.code, error.message, { index });
    }
  }

  #answer(question: Question, inferences: readonly Inference[]): QuestionAnswer {
    const isTruncated = inferences.some(({ truncated }) => truncated);
    return { probabilities: this.#probabilities(question, inferences), isTruncated };
  }

  /** @param inferences of the hypotheses of the question */
  #probabilities(question: Question, inferences: readonly Inference[]): readonly number[] {
    const logits = inferences.map(({ values }) => values);
    const [only] = logits;
    if (question.type === 'predicate' && logits.length === 1) {
      const entailed = softmax(only as Float32Array)[this.#entailment] as number;
      const isTrue = isNegated(question) ? 1 - entailed : entailed;
      return [1 - isTrue, isTrue];
    }
    return [...softmax(Float32Array.from(logits, (values) => values[this.#entailment] as number))];
  }
}

/** @throws EngineError LIST_TOO_LONG */
function requireTokens(count: number): void {
  if (count <= MAX_TOKENS) return;
  const message = `The state and the options have ${count} tokens, over the limit of ${MAX_TOKENS}. The model reads the state once for each option. Send fewer questions, options, or a shorter state.`;
  throw new EngineError('LIST_TOO_LONG', message);
}
