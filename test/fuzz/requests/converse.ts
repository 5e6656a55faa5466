import net from 'node:net';
import type { Address } from '../../helpers/http';
import { AnswerReader, type RawAnswer } from './answer-reader';

/** All that came of some bytes. */
export interface Conversation {
  readonly answers: readonly RawAnswer[];
  /** The service has closed the connection. */
  readonly isClosed: boolean;
}

export interface ConverseOptions {
  /** How long nothing has to come for it to be all, in ms: where something came, and where nothing did. */
  readonly afterAnswer: number;
  readonly before: number;
  /** The last answer may lack its head: nginx takes a request without a version for HTTP/0.9. */
  readonly mayBeBare?: boolean;
}

/**
 * Sends bytes on a connection of their own and reads answers until it is closed, or nothing more comes.
 * Throws where what comes is no HTTP.
 */
export function converse(
  service: Address,
  bytes: Buffer,
  { afterAnswer, before, mayBeBare = false }: ConverseOptions,
): Promise<Conversation> {
  return new Promise((resolve, reject) => {
    const reader = new AnswerReader();
    const answers: RawAnswer[] = [];
    const isHead = bytes.toString('latin1', 0, 5) === 'HEAD ';
    const socket = net.connect(service.port, '127.0.0.1', () => socket.write(bytes));
    const end = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const rest = reader.rest.toString('latin1');
      const isBare = mayBeBare && !rest.startsWith('HTTP/');
      if (rest.length > 0 && !isBare)
        reject(new Error(`more than answers: ${JSON.stringify(rest)}`));
      else resolve({ answers, isClosed });
    };
    let timer = setTimeout(() => end(false), before);
    socket.on('data', (chunk: Buffer) => {
      clearTimeout(timer);
      timer = setTimeout(() => end(false), afterAnswer);
      try {
        reader.push(chunk);
        for (;;) {
          const answer = reader.next(isHead && answers.length === 0);
          if (!answer) break;
          answers.push(answer);
        }
      } catch (error) {
        clearTimeout(timer);
        socket.destroy();
        reject(error as Error);
      }
    });
    socket.on('error', () => undefined); // what it had not read when it closed is a reset
    socket.on('close', () => end(true));
  });
}
