import type { Inference } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { GuardService } from '../../services/guard';
import { type ByteBudget, PIECE_BYTES } from '../../serving/byte-budget';
import { ServiceError } from '../../serving/errors';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { GuardAnswer } from '../../tasks/guard/answer';
import type { ExtProcSection } from '../../tasks/guard/ext-proc-section';
import { restore } from '../../tasks/guard/redaction';
import { type BodyPaths, readBody } from './bodies';
import {
  answerAtOnce,
  type BodySendMode,
  goOn,
  type Headers,
  type HttpBody,
  type HttpHeaders,
  type ProcessingRequest,
  type ProcessingResponse,
  readHeaders,
} from './messages';
import { stepsOf } from './paths';

/** That Envoy takes of a body in one message. */
const MESSAGE_BYTES = 64 * 1024;

export interface SessionOptions {
  readonly guarding: GuardService;
  /** Of one body. */
  readonly bodyLimit: number;
  /** Pieces of bodies that wait for the rest, of each direction by itself. */
  readonly held: ByteBudget<Side>;
}

type SideName = 'request' | 'response';

/** The request of a client, or the answer of the upstream. */
export interface Side {
  readonly name: SideName;
  /** Whose it is. */
  readonly session: Session;
  mode: BodySendMode;
  headers: ReadonlyMap<string, string>;
  /** Its headers are not answered before its body has been looked at. */
  areHeadersHeld: boolean;
  pieces: Buffer[];
  /** Of the pieces. */
  bytes: number;
}

/** What is made of a body: it goes on, as it is (null) or as another, or there is an answer in its place. */
type Verdict =
  | { readonly headers: Headers; readonly body: Buffer | null }
  | { readonly atOnce: ProcessingResponse };

/** One HTTP request through Envoy, and its answer. */
export class Session {
  readonly #options: SessionOptions;
  readonly #section: ExtProcSection;
  readonly #request = newSide(this, 'request');
  readonly #response = newSide(this, 'response');
  #inferences: readonly Inference[] = [];
  /** Of the redacted request, where its answer is to have it again. */
  #map: GuardAnswer['map'] = {};
  #isFirst = true;
  #isDropped = false;
  /** Others make room for a piece of it. */
  #isHolding = false;

  /** @throws ServiceError METHOD_NOT_ALLOWED: there is no guard; MODEL_NOT_LOADED: its file is wrong */
  constructor(options: SessionOptions) {
    this.#options = options;
    if (!options.guarding.isConfigured) {
      throw new ServiceError('METHOD_NOT_ALLOWED', 'There is no guard here: it has no file.');
    }
    this.#section = options.guarding.require().file.ext_proc;
  }

  /** @throws ServiceError, EngineError */
  async answer(message: ProcessingRequest, call: ServiceRequest): Promise<ServiceResponse> {
    if (this.#isDropped) {
      throw new ServiceError('BODY_MEMORY_FULL', 'Too many bodies are on their way.');
    }
    this.#configure(message);
    this.#inferences = [];
    const answers = await this.#answer(message, call);
    // One that only watches is told nothing.
    return { body: message.observability_mode ? [] : answers, inferences: this.#inferences };
  }

  /** What it holds makes room for others. False: not for a piece of its own. */
  drop(): boolean {
    if (this.#isHolding) return false;
    this.#isDropped = true;
    this.#map = {};
    for (const side of [this.#request, this.#response]) this.#free(side);
    return true;
  }

  /** It is over. */
  close(): void {
    this.drop();
  }

  #free(side: Side): void {
    side.pieces = [];
    side.bytes = 0;
    this.#options.held.end(side);
  }

  #configure({ protocol_config }: ProcessingRequest): void {
    if (!this.#isFirst) return;
    this.#isFirst = false;
    this.#request.mode = protocol_config?.request_body_mode ?? 'BUFFERED';
    this.#response.mode = protocol_config?.response_body_mode ?? 'BUFFERED';
    for (const { name, mode } of [this.#request, this.#response]) {
      if (mode !== 'STREAMED' && mode !== 'GRPC') continue;
      const wanted = 'BUFFERED, BUFFERED_PARTIAL, FULL_DUPLEX_STREAMED or NONE';
      const why = 'what goes on before all of it has come was not looked at whole';
      throw new ServiceError(
        'BODY_INVALID',
        `processing_mode.${name}_body_mode: expected ${wanted}, found ${mode}: ${why}`,
      );
    }
  }

  async #answer(
    message: ProcessingRequest,
    call: ServiceRequest,
  ): Promise<readonly ProcessingResponse[]> {
    switch (message.request) {
      case 'request_headers':
        return this.#takeHeaders(this.#request, message.request_headers as HttpHeaders);
      case 'response_headers':
        return this.#takeHeaders(this.#response, message.response_headers as HttpHeaders);
      case 'request_body':
        return this.#takeBody(this.#request, message.request_body as HttpBody, call);
      case 'response_body':
        return this.#takeBody(this.#response, message.response_body as HttpBody, call);
      case 'request_trailers':
        return this.#takeTrailers(this.#request, call);
      case 'response_trailers':
        return this.#takeTrailers(this.#response, call);
      default:
        throw new ServiceError('BODY_INVALID', 'request: expected headers, a body or trailers');
    }
  }

  #takeHeaders(side: Side, given: HttpHeaders): readonly ProcessingResponse[] {
    side.headers = readHeaders(given);
    side.areHeadersHeld = side.mode === 'FULL_DUPLEX_STREAMED' && !given.end_of_stream;
    return side.areHeadersHeld ? [] : [goOn(`${side.name}_headers`, this.#cleared(side))];
  }

  async #takeBody(
    side: Side,
    { body, end_of_stream, end_of_stream_without_message }: HttpBody,
    call: ServiceRequest,
  ): Promise<readonly ProcessingResponse[]> {
    if (side.mode !== 'FULL_DUPLEX_STREAMED') {
      const isWhole = side.mode === 'BUFFERED' || end_of_stream;
      const verdict = await this.#judge(side, body, { call, isWhole });
      if ('atOnce' in verdict) return [verdict.atOnce];
      const mutation = verdict.body && { body: verdict.body };
      return [goOn(`${side.name}_body`, verdict.headers, mutation)];
    }
    const tooLarge = this.#hold(side, body);
    if (tooLarge) return [tooLarge];
    const isEnd = end_of_stream || end_of_stream_without_message;
    return isEnd ? this.#release(side, call, true) : [];
  }

  async #takeTrailers(side: Side, call: ServiceRequest): Promise<readonly ProcessingResponse[]> {
    const before = side.areHeadersHeld ? await this.#release(side, call, false) : [];
    const isOver = before.some((one) => 'immediate_response' in one);
    return isOver ? before : [...before, { [`${side.name}_trailers`]: {} }];
  }

  /**
   * @returns the answer in the place of a body that is too large; null: it is not
   * @throws ServiceError BODY_MEMORY_FULL
   */
  #hold(side: Side, piece: Buffer): ProcessingResponse | null {
    const { held, bodyLimit } = this.#options;
    if (side.bytes + piece.length > bodyLimit) {
      return this.#refuse(`The body is over the limit of ${bodyLimit} bytes.`, 'too_large');
    }
    if (piece.length === 0) return null;
    const bytes = piece.length + PIECE_BYTES;
    this.#isHolding = true;
    const hasRoom = held.hasRoomFor(bytes);
    this.#isHolding = false;
    if (!hasRoom) {
      throw new ServiceError('BODY_MEMORY_FULL', 'Too many bodies are on their way.');
    }
    if (!held.add(side, bytes)) held.begin(side, bytes);
    side.pieces.push(piece);
    side.bytes += piece.length;
    return null;
  }

  /** Headers and body of what came in pieces. @param isEnd nothing follows */
  async #release(
    side: Side,
    call: ServiceRequest,
    isEnd: boolean,
  ): Promise<readonly ProcessingResponse[]> {
    const whole = Buffer.concat(side.pieces);
    this.#free(side);
    const verdict = await this.#judge(side, whole, { call, isWhole: true });
    if ('atOnce' in verdict) return [verdict.atOnce];
    const body = verdict.body ?? whole;
    const headers = side.areHeadersHeld ? [goOn(`${side.name}_headers`, verdict.headers)] : [];
    side.areHeadersHeld = false;
    const count = Math.max(1, Math.ceil(body.length / MESSAGE_BYTES));
    const pieces = Array.from({ length: count }, (_, i) => ({
      body: body.subarray(i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES),
      end_of_stream: isEnd && i === count - 1,
    }));
    return [
      ...headers,
      ...pieces.map((piece) => goOn(`${side.name}_body`, {}, { streamed_response: piece })),
    ];
  }

  /** @param isWhole false: Envoy has not sent all of it */
  async #judge(
    side: Side,
    bytes: Buffer,
    { call, isWhole }: { readonly call: ServiceRequest; readonly isWhole: boolean },
  ): Promise<Verdict> {
    const headers = this.#cleared(side);
    if (isWhole && bytes.length === 0) return { headers, body: null };
    const body = isWhole ? readBody(bytes, side.headers, this.#pathsOf(side)) : null;
    const direction = side.name === 'request' ? 'input' : 'output';
    if (!body) {
      if (this.#section.unreadable === 'allow') return { headers, body: null };
      return { atOnce: this.#refuse(`The guard cannot read this ${direction}.`, 'unreadable') };
    }
    if (body.texts.length === 0) return { headers, body: null };
    const { texts } = body;
    const taken = Object.keys(this.#map);
    const answer = await this.#options.guarding.check(call, { texts, direction, taken });
    this.#inferences = answer.inferences;
    if (answer.action === 'block') {
      const message = `The guard has blocked this ${direction}: ${reasonsOf(answer)}.`;
      return { atOnce: this.#refuse(message, 'blocked', answer) };
    }
    const noted = noteOf(answer);
    const written = this.#written(side, answer);
    const isChanged = written.some((text, index) => text !== texts[index]);
    const changed = isChanged ? body.write(written) : null;
    return {
      headers: {
        ...headers,
        set: {
          ...(noted !== '' && { [this.#section.header]: noted }),
          ...(changed && { 'content-length': String(changed.length) }),
        },
        remove: noted === '' ? (headers.remove ?? []) : without(headers, this.#section.header),
      },
      body: changed,
    };
  }

  /** The texts that go on: redacted and, of an answer, with what its request was redacted of. */
  #written({ name }: Side, { texts, map }: GuardAnswer): readonly string[] {
    if (name === 'response') return texts.map((text) => restore(text, this.#map));
    if (this.#section.restore) this.#map = map;
    return texts;
  }

  #pathsOf({ name }: Side): BodyPaths {
    const { input, output, events } = this.#section;
    const json = name === 'request' ? input : output;
    return { json: json.map(stepsOf), events: events.map(stepsOf) };
  }

  /** Nobody else says what the guard has found, and the upstream answers in a form that can be read. */
  #cleared({ name }: Side): Headers {
    const isAnswerRead = name === 'request' && this.#response.mode !== 'NONE';
    return { remove: [this.#section.header, ...(isAnswerRead ? ['accept-encoding'] : [])] };
  }

  /** As OpenAI's servers tell of errors, which clients of language models read. */
  #refuse(message: string, code: string, answer: GuardAnswer | null = null): ProcessingResponse {
    const findings = (answer?.findings ?? []).map(({ check, label, score, action }) => ({
      check,
      label,
      score: roundToFourDecimals(score),
      action,
    }));
    return answerAtOnce(this.#section.status, {
      error: { message, type: 'guard', param: null, code, findings },
    });
  }
}

function newSide(session: Session, name: SideName): Side {
  return {
    name,
    session,
    mode: 'BUFFERED',
    headers: new Map(),
    areHeadersHeld: false,
    pieces: [],
    bytes: 0,
  };
}

function without({ remove = [] }: Headers, header: string): readonly string[] {
  return remove.filter((name) => name !== header);
}

/** Names of the checks that block. */
function reasonsOf({ findings, errors, notLookedAt }: GuardAnswer): string {
  const found = findings.filter(({ action }) => action === 'block');
  const failed = errors.filter(({ action }) => action === 'block');
  const limits = notLookedAt.filter(({ action }) => action === 'block');
  const reasons = [
    ...found.map(({ check, label }) => `${check} (${label})`),
    ...failed.map(({ check }) => `${check} could not run`),
    ...limits.map(({ limit }) => `it is over a limit of the guard (${limit})`),
  ];
  return [...new Set(reasons)].join(', ');
}

/** What was found, for a header: `check/label;score=0.98`, with commas between them; the highest score of each. */
function noteOf({ findings }: GuardAnswer): string {
  const scores = new Map<string, number>();
  for (const { check, label, score } of findings) {
    const name = `${encodeURIComponent(check)}/${encodeURIComponent(label)}`;
    scores.set(name, Math.max(score, scores.get(name) ?? 0));
  }
  return [...scores]
    .map(([name, score]) => `${name};score=${roundToFourDecimals(score)}`)
    .join(', ');
}
