import type { ServerHttp2Stream } from 'node:http2';
import { type deflate, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { ServiceError } from '../serving/errors';

/** Bytes of the prefix of a message: compressed flag (1 byte), length (4 bytes, big endian). */
const PREFIX_BYTES = 5;

/** Decompression by `grpc-encoding`. */
const DECOMPRESS: Readonly<Record<string, typeof deflate>> = { gzip: gunzip, deflate: inflate };

/** Prefix of a length-prefixed message. */
export interface MessagePrefix {
  readonly isCompressed: boolean;
  /** Length of the message on the wire. */
  readonly bytes: number;
}

/** A call whose messages are read. */
export interface ReadableCall {
  readonly stream: ServerHttp2Stream;
  /** Compression of messages with the compressed flag. */
  readonly messageEncoding: string;
  /** Maximum bytes of a decompressed message. */
  readonly maxMessageBytes: number;
  readonly isOver: boolean;
  /** Runs `work` in the error boundary of the call. False: it failed. */
  guard(work: () => void): boolean;
}

/** Callbacks of `MessageReader`. An error that a callback throws fails the call and stops the reader. */
export interface MessageListener {
  /** Whether the next message may be read now. Call `MessageReader.advance` when this changes to true. */
  readonly isReady: () => boolean;
  /** Called before a message is read. */
  readonly onBegin: (prefix: MessagePrefix) => void;
  /** Called for each chunk of a message. */
  readonly onChunk: () => void;
  /** @param message whole and decompressed */
  readonly onMessage: (message: Buffer) => void;
  /** Called once, when the client has ended its side of the stream and all messages have been delivered. */
  readonly onEnd: () => void;
}

/**
 * Reads the messages of a call one at a time. While the listener is not ready, the stream is paused: at most one chunk
 * is held here, and HTTP/2 flow control keeps the rest with the client.
 */
export class MessageReader {
  readonly #call: ReadableCall;
  readonly #listener: MessageListener;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  #isCompressed = false;
  /** Bytes of the current message that have not been received. */
  #missing = 0;
  #isInMessage = false;
  /** Chunks of the current message. */
  #chunks: Buffer[] = [];
  /** Received bytes that have not been read; null: none. */
  #held: Buffer | null = null;
  #isDecompressing = false;
  #isAdvancing = false;
  #hasEnded = false;
  #isStopped = false;

  constructor(call: ReadableCall, listener: MessageListener) {
    this.#call = call;
    this.#listener = listener;
    call.stream.on('data', (data: Buffer) => {
      if (this.#isStopped || call.isOver) return;
      this.#held = this.#held ? Buffer.concat([this.#held, data]) : data;
      this.advance();
    });
    call.stream.on('end', () => {
      this.#hasEnded = true;
      this.advance();
    });
  }

  /** Reads on as far as the listener allows. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    if (!this.#call.guard(() => this.#advance())) this.stop();
    this.#isAdvancing = false;
  }

  /** Reads nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#held = null;
    this.#chunks = [];
    this.#call.stream.pause();
  }

  #advance(): void {
    while (
      this.#held &&
      !this.#isDecompressing &&
      (this.#isInMessage || this.#listener.isReady())
    ) {
      this.#readChunk(this.#held);
    }
    const { stream } = this.#call;
    if (this.#isStopped) return;
    if (this.#held || this.#isDecompressing) stream.pause();
    else if (!this.#hasEnded) stream.resume();
    else {
      this.#isStopped = true;
      this.#listener.onEnd();
    }
  }

  /** Reads up to the end of the current message. */
  #readChunk(data: Buffer): void {
    let offset = 0;
    if (!this.#isInMessage) {
      offset = data.copy(this.#prefix, this.#prefixBytes);
      this.#prefixBytes += offset;
      this.#held = offset < data.length ? data.subarray(offset) : null;
      if (this.#prefixBytes < PREFIX_BYTES) {
        this.#listener.onChunk();
        return;
      }
      this.#prefixBytes = 0;
      this.#isInMessage = true;
      this.#isCompressed = this.#prefix[0] !== 0;
      this.#missing = this.#prefix.readUInt32BE(1);
      this.#listener.onBegin({ isCompressed: this.#isCompressed, bytes: this.#missing });
      if (this.#isStopped) return;
    }
    const chunk = data.subarray(offset, offset + this.#missing);
    const end = offset + chunk.length;
    this.#held = end < data.length ? data.subarray(end) : null;
    this.#missing -= chunk.length;
    if (chunk.length > 0) this.#chunks.push(chunk);
    this.#listener.onChunk();
    if (this.#missing === 0 && !this.#isStopped) this.#endMessage();
  }

  #endMessage(): void {
    const message =
      this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#isInMessage = false;
    const encoding = this.#call.messageEncoding;
    if (!this.#isCompressed || encoding === 'identity') {
      this.#listener.onMessage(message);
      return;
    }
    const decompress = DECOMPRESS[encoding];
    if (!decompress) {
      const problem = `grpc-encoding: expected identity, deflate or gzip, received "${encoding}"`;
      throw new ServiceError('METHOD_NOT_ALLOWED', problem);
    }
    this.#isDecompressing = true;
    const maxOutputLength = this.#call.maxMessageBytes;
    decompress(message, { maxOutputLength } satisfies ZlibOptions, (error, result) => {
      this.#isDecompressing = false;
      if (this.#isStopped || this.#call.isOver) return;
      const isRead = this.#call.guard(() => {
        if (error) throw decompressionError(error, maxOutputLength);
        this.#listener.onMessage(result);
      });
      if (isRead) this.advance();
      else this.stop();
    });
  }
}

function decompressionError(error: NodeJS.ErrnoException, limit: number): ServiceError {
  return error.code === 'ERR_BUFFER_TOO_LARGE'
    ? tooLarge(limit)
    : new ServiceError('BODY_INVALID', 'message: decompression failed');
}

export function tooLarge(limit: number): ServiceError {
  return new ServiceError('BODY_TOO_LARGE', `The message exceeds the limit of ${limit} bytes.`);
}
