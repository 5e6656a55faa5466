import type { InnermostCall } from '../exchange';
import { type MessageHead, MessageHeads } from '../message-heads';

/** What is told of the messages of a stream, as their bytes come. */
export interface FeedListener {
  /** Whether one more may begin now. */
  readonly hasRoom: () => boolean;
  /** One begins. False: it is not read, nor is anything that follows. */
  readonly begins: (head: MessageHead) => boolean;
  /** A piece of it has come; the same. */
  readonly comes: () => boolean;
  /** An unexpected error: nothing more is read. */
  readonly crashed: (error: unknown) => void;
}

/**
 * Gives grpc-js the bytes of one stream a message at a time, and none of the next before there is room
 * for it. By itself grpc-js makes objects of all messages that its socket has brought, of which
 * there may be thousands. What is not given to it is held here (one piece at most) and by the client: the
 * stream is paused meanwhile, and the window of HTTP/2 is not opened again.
 */
export class Feed {
  readonly #call: InnermostCall;
  readonly #listener: FeedListener;
  readonly #heads = new MessageHeads();
  readonly #read: (data: Buffer) => void;
  readonly #readEnd: () => void;
  readonly #wait: () => void;
  /** Bytes that have come and are not read yet; null: none. */
  #held: Buffer | null = null;
  #hasEnded = false;
  #isStopped = false;
  /** grpc-js asks for the next message. */
  #isAsked = false;
  /** It has been told to take it. */
  #isReading = false;

  constructor(call: InnermostCall, listener: FeedListener) {
    this.#call = call;
    this.#listener = listener;
    this.#read = call.handleDataFrame.bind(call);
    this.#readEnd = call.handleEndEvent.bind(call);
    this.#wait = call.startRead.bind(call);
    call.handleDataFrame = (data) => {
      if (this.#isStopped) return;
      this.#held = this.#held ? Buffer.concat([this.#held, data]) : data;
      this.advance();
    };
    call.handleEndEvent = () => {
      this.#hasEnded = true;
      this.advance();
    };
    call.startRead = () => {
      this.#isAsked = true;
      this.advance();
    };
  }

  /** There may be room now. Called by HTTP/2 as well: what it throws would be an error of the process. */
  advance(): void {
    try {
      this.#advance();
    } catch (error) {
      this.stop();
      this.#listener.crashed(error);
    }
  }

  #advance(): void {
    if (this.#isStopped) return;
    if (this.#isAsked && this.#listener.hasRoom()) {
      this.#isAsked = false;
      this.#isReading = true;
      this.#wait();
    }
    while (this.#held && this.#isReading) {
      if (!this.#readOn(this.#held)) {
        this.stop();
        return;
      }
    }
    if (this.#held) this.#call.stream.pause();
    else if (this.#hasEnded && this.#isReading) {
      this.#isReading = false;
      this.#readEnd();
    }
  }

  /** Nothing more of it is read. */
  stop(): void {
    this.#isStopped = true;
    this.#held = null;
    this.#call.stream.pause();
  }

  /** One piece, up to the end of a message. False: it is refused. */
  #readOn(held: Buffer): boolean {
    const { bytes, head, isWhole } = this.#heads.readMessage(held);
    this.#held = bytes < held.length ? held.subarray(bytes) : null;
    if (head && !this.#listener.begins(head)) return false;
    if (!this.#listener.comes()) return false;
    if (isWhole) this.#isReading = false;
    this.#read(held.subarray(0, bytes));
    return true;
  }
}
