/** One answer as it came over a connection. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/;
const HEADER = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+): ([\x20-\x7e]*)$/;
const HEAD_MOST = 64 * 1024;

/**
 * Reads answers off a connection, and believes nothing: what is no HTTP/1.1 as this service writes it,
 * each body with its length, is an error.
 */
export class AnswerReader {
  #pending: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
  }

  /** Bytes that belong to no answer that was read. */
  get rest(): Buffer {
    return this.#pending;
  }

  /**
   * The next whole answer, interim ones (100) left out; null: it has not come yet.
   *
   * @param isToHead the answer is to a HEAD, and so has no body
   */
  next(isToHead: boolean): RawAnswer | null {
    for (;;) {
      const end = this.#pending.indexOf('\r\n\r\n');
      if (end < 0) {
        if (this.#pending.length > HEAD_MOST) throw new Error('a head without end');
        return null;
      }
      const head = parseHead(this.#pending.toString('latin1', 0, end));
      const length = isToHead || hasNoBody(head.status) ? 0 : lengthOf(head.headers);
      const start = end + 4;
      if (this.#pending.length < start + length) return null;
      const body = this.#pending.subarray(start, start + length);
      this.#pending = this.#pending.subarray(start + length);
      if (head.status >= 200) return { ...head, body };
    }
  }
}

function hasNoBody(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}

function lengthOf(headers: ReadonlyMap<string, string>): number {
  const length = headers.get('content-length');
  if (length === undefined || !/^\d+$/.test(length) || headers.has('transfer-encoding')) {
    throw new Error(`an answer without a length: ${JSON.stringify([...headers])}`);
  }
  return Number(length);
}

function parseHead(text: string): Omit<RawAnswer, 'body'> {
  const [first = '', ...lines] = text.split('\r\n');
  const status = STATUS_LINE.exec(first)?.[1];
  if (status === undefined) throw new Error(`no status line: ${JSON.stringify(first)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    if (name === '') throw new Error(`no header: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`a header twice: ${name}`);
    headers.set(name.toLowerCase(), value);
  }
  return { status: Number(status), headers };
}
