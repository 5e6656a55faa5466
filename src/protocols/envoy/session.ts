import type { GuardService } from '../../services/guard';
import { type ByteBudget, PIECE_BYTES } from '../../serving/byte-budget';
import { ServiceError } from '../../serving/errors';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import { BodyChecker, type Direction, type Verdict } from './body-check';
import {
  type BodySendMode,
  continueWith,
  type HeaderChanges,
  type HttpBody,
  type HttpHeaders,
  type ProcessingRequest,
  type ProcessingResponse,
  readHeaders,
} from './messages';

/** Maximum bytes of a body that Envoy accepts in one message. */
const MESSAGE_BYTES = 64 * 1024;

const MEMORY_FULL = 'The memory for request bodies (BODY_MEMORY) is full.';

export interface SessionOptions {
  readonly guard: GuardService;
  /** Maximum bytes of one body. */
  readonly bodyLimit: number;
  /** Memory of bodies that arrive in chunks, per direction of a session. */
  readonly memory: ByteBudget<HttpMessage>;
}

/** The HTTP request of a client, or the response of the upstream. */
export interface HttpMessage {
  readonly direction: Direction;
  readonly session: Session;
  mode: BodySendMode;
  headers: ReadonlyMap<string, string>;
  /** True while the headers wait for the check of the body. */
  areHeadersHeld: boolean;
  chunks: Buffer[];
  /** Bytes of the chunks. */
  bytes: number;
}

/** One HTTP request through Envoy and its response. */
export class Session {
  readonly #options: SessionOptions;
  /** Name of the header with the findings. */
  readonly #findingsHeader: string;
  readonly #checker: BodyChecker;
  readonly #request = newMessage(this, 'request');
  readonly #response = newMessage(this, 'response');
  #isConfigured = false;
  #isEvicted = false;
  /** True while memory is reserved for this session, which must not evict itself. */
  #isReserving = false;

  /** @throws ServiceError METHOD_NOT_ALLOWED: no guard is configured; MODEL_NOT_LOADED: its file is invalid */
  constructor(options: SessionOptions) {
    this.#options = options;
    if (!options.guard.isConfigured) {
      throw new ServiceError(
        'METHOD_NOT_ALLOWED',
        'The server has no guardrail policy. Add guard.json, or set GUARD_FILE.',
      );
    }
    const section = options.guard.require().file.ext_proc;
    this.#findingsHeader = section.header;
    this.#checker = new BodyChecker(options.guard, section);
  }

  /** Handles the next message of the stream. @throws ServiceError, EngineError */
  async handle(message: ProcessingRequest, call: ServiceRequest): Promise<ServiceResponse> {
    if (this.#isEvicted) throw new ServiceError('BODY_MEMORY_FULL', MEMORY_FULL);
    if (!this.#isConfigured) this.#configure(message);
    this.#checker.inferences = [];
    const responses = await this.#dispatch(message, call);
    // In observability mode, Envoy does not read responses.
    const body = message.observability_mode ? [] : responses;
    return { body, inferences: this.#checker.inferences };
  }

  /** Releases the memory of this session for other sessions. False: the session is reserving memory itself. */
  evict(): boolean {
    if (this.#isReserving) return false;
    this.#isEvicted = true;
    this.#checker.clear();
    for (const message of [this.#request, this.#response]) this.#release(message);
    return true;
  }

  #release(message: HttpMessage): void {
    message.chunks = [];
    message.bytes = 0;
    this.#options.memory.end(message);
  }

  #configure({ protocol_config }: ProcessingRequest): void {
    this.#isConfigured = true;
    this.#request.mode = protocol_config?.request_body_mode ?? 'BUFFERED';
    this.#response.mode = protocol_config?.response_body_mode ?? 'BUFFERED';
    for (const { direction, mode } of [this.#request, this.#response]) {
      if (mode !== 'STREAMED' && mode !== 'GRPC') continue;
      const wanted = 'BUFFERED, BUFFERED_PARTIAL, FULL_DUPLEX_STREAMED or NONE';
      const reason = 'the guard checks whole bodies';
      throw new ServiceError(
        'BODY_INVALID',
        `processing_mode.${direction}_body_mode: expected ${wanted}, found ${mode}: ${reason}`,
      );
    }
  }

  async #dispatch(
    message: ProcessingRequest,
    call: ServiceRequest,
  ): Promise<readonly ProcessingResponse[]> {
    switch (message.request) {
      case 'request_headers':
        return this.#handleHeaders(this.#request, message.request_headers as HttpHeaders);
      case 'response_headers':
        return this.#handleHeaders(this.#response, message.response_headers as HttpHeaders);
      case 'request_body':
        return this.#handleBody(this.#request, message.request_body as HttpBody, call);
      case 'response_body':
        return this.#handleBody(this.#response, message.response_body as HttpBody, call);
      case 'request_trailers':
        return this.#handleTrailers(this.#request, call);
      case 'response_trailers':
        return this.#handleTrailers(this.#response, call);
      default:
        throw new ServiceError('BODY_INVALID', 'request: expected headers, a body or trailers');
    }
  }

  #handleHeaders(message: HttpMessage, headers: HttpHeaders): readonly ProcessingResponse[] {
    message.headers = readHeaders(headers);
    message.areHeadersHeld = message.mode === 'FULL_DUPLEX_STREAMED' && !headers.end_of_stream;
    if (message.areHeadersHeld) return [];
    return [continueWith(`${message.direction}_headers`, this.#headerChanges(message))];
  }

  async #handleBody(
    message: HttpMessage,
    { body, end_of_stream, end_of_stream_without_message }: HttpBody,
    call: ServiceRequest,
  ): Promise<readonly ProcessingResponse[]> {
    const { mode, direction } = message;
    if (mode === 'FULL_DUPLEX_STREAMED') {
      const rejection = this.#hold(message, body);
      if (rejection) return [rejection];
      const isEnd = end_of_stream || end_of_stream_without_message;
      return isEnd ? this.#checkHeld(message, call, true) : [];
    }
    const verdict = await this.#check(message, body, call, mode === 'BUFFERED' || end_of_stream);
    if ('immediate' in verdict) return [verdict.immediate];
    const mutation = verdict.body && { body: verdict.body };
    return [continueWith(`${direction}_body`, verdict.headers, mutation)];
  }

  async #handleTrailers(
    message: HttpMessage,
    call: ServiceRequest,
  ): Promise<readonly ProcessingResponse[]> {
    const held = message.areHeadersHeld ? await this.#checkHeld(message, call, false) : [];
    const isRejected = held.some((response) => 'immediate_response' in response);
    return isRejected ? held : [...held, { [`${message.direction}_trailers`]: {} }];
  }

  /**
   * Holds a chunk until the body is complete.
   *
   * @returns the response to the client if the body is too large, otherwise null
   * @throws ServiceError BODY_MEMORY_FULL
   */
  #hold(message: HttpMessage, chunk: Buffer): ProcessingResponse | null {
    const { memory, bodyLimit } = this.#options;
    if (message.bytes + chunk.length > bodyLimit) {
      const problem = `The body exceeds the limit of ${bodyLimit} bytes.`;
      return this.#checker.reject(problem, 'too_large').immediate;
    }
    if (chunk.length === 0) return null;
    const bytes = chunk.length + PIECE_BYTES;
    this.#isReserving = true;
    const hasRoom = memory.hasRoomFor(bytes);
    this.#isReserving = false;
    if (!hasRoom) throw new ServiceError('BODY_MEMORY_FULL', MEMORY_FULL);
    if (!memory.add(message, bytes)) memory.begin(message, bytes);
    message.chunks.push(chunk);
    message.bytes += chunk.length;
    return null;
  }

  /** Checks the held chunks; responds with headers and body. @param isEnd false: trailers follow */
  async #checkHeld(
    message: HttpMessage,
    call: ServiceRequest,
    isEnd: boolean,
  ): Promise<readonly ProcessingResponse[]> {
    const { direction } = message;
    const whole = Buffer.concat(message.chunks);
    this.#release(message);
    const verdict = await this.#check(message, whole, call, true);
    if ('immediate' in verdict) return [verdict.immediate];
    const body = verdict.body ?? whole;
    const headers = message.areHeadersHeld
      ? [continueWith(`${direction}_headers`, verdict.headers)]
      : [];
    message.areHeadersHeld = false;
    const count = Math.max(1, Math.ceil(body.length / MESSAGE_BYTES));
    const bodies = Array.from({ length: count }, (_, i) => {
      const chunk = body.subarray(i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES);
      const streamed_response = { body: chunk, end_of_stream: isEnd && i === count - 1 };
      return continueWith(`${direction}_body`, {}, { streamed_response });
    });
    return [...headers, ...bodies];
  }

  #check(
    message: HttpMessage,
    bytes: Buffer,
    call: ServiceRequest,
    isComplete: boolean,
  ): Promise<Verdict> {
    const { direction, headers } = message;
    const headerChanges = this.#headerChanges(message);
    return this.#checker.check(call, { direction, bytes, headers, isComplete, headerChanges });
  }

  /** Removes forged findings, and `accept-encoding`, so that the guard can read the response. */
  #headerChanges({ direction }: HttpMessage): HeaderChanges {
    const readsResponse = direction === 'request' && this.#response.mode !== 'NONE';
    return { remove: [this.#findingsHeader, ...(readsResponse ? ['accept-encoding'] : [])] };
  }
}

function newMessage(session: Session, direction: Direction): HttpMessage {
  return {
    direction,
    session,
    mode: 'BUFFERED',
    headers: new Map(),
    areHeadersHeld: false,
    chunks: [],
    bytes: 0,
  };
}
