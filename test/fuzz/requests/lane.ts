import net from 'node:net';
import type { Address } from '../../helpers/http';
import { AnswerReader, type RawAnswer } from './answer-reader';
import type { Case } from './cases';

/** Requests behind which the service closes the connection. */
const CLOSING = /\r\n(?:Upgrade|Expect): /i;

/** Told of every answer; throws where it is not what must come back. */
export type Judge = (asked: Case, answer: RawAnswer) => void;

/**
 * Sends the requests of `next` one after the other over one connection, up to `depth` of them before
 * their answers, until there are none. A connection that the service says it closes is opened anew, and
 * what was sent behind on it is sent again.
 */
export async function runLane(
  service: Address,
  { depth, next, judge }: { depth: number; next: () => Case | null; judge: Judge },
): Promise<void> {
  let again: Case[] = [];
  const take = (): Case | null => again.shift() ?? next();
  for (;;) {
    const connection = new Connection(service, { depth, take, judge });
    again = [...(await connection.run()), ...again];
    if (connection.isDone && again.length === 0) return;
  }
}

interface ConnectionOptions {
  readonly depth: number;
  readonly take: () => Case | null;
  readonly judge: Judge;
}

class Connection {
  /** There was no request left. */
  isDone = false;
  readonly #socket: net.Socket;
  readonly #options: ConnectionOptions;
  readonly #reader = new AnswerReader();
  readonly #due: Case[] = [];
  #saysItCloses = false;
  /** What came back, for messages. */
  readonly #answered: string[] = [];

  constructor(service: Address, options: ConnectionOptions) {
    this.#options = options;
    this.#socket = net.connect(service.port, '127.0.0.1').setNoDelay(true);
  }

  /** Resolves with what was sent and may be sent again, when the connection is closed. */
  run(): Promise<readonly Case[]> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.#socket.destroy();
        const asked = this.#due[0];
        const sent = asked ? describe(asked) : 'nothing';
        reject(
          new Error(
            `${error.message}\nwaiting for the answer to ${sent}\nafter ${this.#answered.slice(-5)}`,
            { cause: error },
          ),
        );
      };
      this.#socket.on('connect', () => this.#send());
      this.#socket.on('error', (error: NodeJS.ErrnoException) => {
        // It has closed, as it said or was about to say, and had not read all.
        if (!this.#mayClose()) fail(error);
      });
      this.#socket.on('data', (chunk: Buffer) => {
        try {
          this.#read(chunk);
        } catch (error) {
          fail(error as Error);
        }
      });
      this.#socket.on('close', () => {
        if (this.#due.length > 0 && !this.#mayClose()) fail(new Error('closed without a word'));
        else if (this.#reader.rest.length > 0 && !this.#mayClose())
          fail(new Error('more than the answers'));
        else resolve(this.#due);
      });
    });
  }

  /** It has said so, or has been sent what it closes the connection behind. */
  #mayClose(): boolean {
    return this.#saysItCloses || this.#due.some(({ bytes }) => CLOSING.test(head(bytes)));
  }

  #send(): void {
    const { depth, take } = this.#options;
    const parts: Buffer[] = [];
    while (this.#due.length < depth && !this.isDone && !this.#saysItCloses) {
      const asked = take();
      if (asked === null) {
        this.isDone = true;
        break;
      }
      this.#due.push(asked);
      parts.push(asked.bytes);
    }
    if (parts.length > 0) this.#socket.write(Buffer.concat(parts));
    else if (this.isDone && this.#due.length === 0) this.#socket.end();
  }

  #read(chunk: Buffer): void {
    this.#reader.push(chunk);
    for (;;) {
      const [asked] = this.#due;
      if (!asked || this.#saysItCloses) break;
      const answer = this.#reader.next(asked.method === 'HEAD');
      if (!answer) break;
      this.#options.judge(asked, answer);
      this.#due.shift();
      this.#answered.push(`${asked.id} ${answer.status}`);
      this.#saysItCloses = answer.headers.get('connection') === 'close';
    }
    // Half of what may be sent at once is sent at once.
    if (this.#due.length * 2 <= this.#options.depth) this.#send();
  }
}

function head(bytes: Buffer): string {
  return bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n'));
}

/** The start of its bytes, which a person can read. */
export function describe({ what, bytes }: Case): string {
  const shown = bytes.toString('latin1', 0, 2000);
  return `${what}: ${JSON.stringify(shown)}${bytes.length > 2000 ? ` (${bytes.length} bytes)` : ''}`;
}
