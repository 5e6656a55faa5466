import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { post, request } from '../helpers/http';
import { figuresOf } from '../helpers/process-figures';
import { seededRandom } from '../helpers/random';
import { RawClient } from '../helpers/raw-clients';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { StreamClient } from '../helpers/streams';
import { until, within } from '../helpers/until';

const UPGRADE =
  'GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`;
const OPENING = JSON.stringify({ sampling_rate_hz: 95, step: 64 });
const LIMIT = 65_536;

afterAll(killAll);

interface FrameOptions {
  readonly opcode?: number;
  readonly isFinal?: boolean;
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** That the frame says. */
  readonly length?: bigint;
}

const [CONTINUATION, TEXT, CLOSE, PING] = [0, 1, 8, 9];

/** RFC 6455, 5.2. */
function frame(
  payload: string | Buffer,
  { opcode = TEXT, isFinal = true, reserved = 0, isMasked = true, length }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const said = length ?? BigInt(bytes.length);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  let head: Buffer;
  if (said < 126n) head = Buffer.from([first, mask | Number(said)]);
  else if (said < 65_536n) {
    head = Buffer.from([first, mask | 126, Number(said) >> 8, Number(said) & 0xff]);
  } else {
    head = Buffer.alloc(10);
    head[0] = first;
    head[1] = mask | 127;
    head.writeBigUInt64BE(said, 2);
  }
  const key = Buffer.from([1, 2, 3, 4]);
  const masked = bytes.map((byte, i) => byte ^ (key[i % 4] as number));
  return Buffer.concat(isMasked ? [head, key, masked] : [head, bytes]);
}

describe('hostile frames', () => {
  let service: Service;
  beforeAll(async () => {
    const env = { BODY_LIMIT: String(LIMIT) };
    service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg'), env });
  });

  async function upgraded(options?: { reads?: boolean; to?: Service }): Promise<RawClient> {
    const reads = options?.reads ?? true;
    const client = await new RawClient(options?.to ?? service, { reads }).connected();
    client.write(UPGRADE);
    if (reads) await client.receives(/101 Switching Protocols[\s\S]*\r\n\r\n/);
    return client;
  }

  /** The code of the close message. */
  async function closeCode(frames: readonly Buffer[]): Promise<number> {
    const client = await upgraded();
    const before = client.received.length;
    for (const one of frames) client.socket.write(one);
    await within(() => 'the end of a connection', client.closed);
    client.leave();
    const bytes = Buffer.from(client.received.slice(before), 'latin1');
    // A message about the error may be before it: in a frame of two or four bytes before its text.
    for (let at = 0; at < bytes.length; ) {
      const short = (bytes[at + 1] as number) & 0x7f;
      const [length, begin] = short === 126 ? [bytes.readUInt16BE(at + 2), 4] : [short, 2];
      if (((bytes[at] as number) & 0xf) === CLOSE) return bytes.readUInt16BE(at + begin);
      at += begin + length;
    }
    return 0;
  }

  it.each<[string, number, readonly Buffer[]]>([
    ['a reserved bit', 1002, [frame('{}', { reserved: 4 })]],
    ['an unknown opcode', 1002, [frame('{}', { opcode: 5 })]],
    ['no mask', 1002, [frame('{}', { isMasked: false })]],
    ['a length of 2^62', 1009, [frame('{}', { length: 2n ** 62n })]],
    ['a length over BODY_LIMIT', 1009, [frame('{}', { length: BigInt(LIMIT + 1) })]],
    ['a continuation of nothing', 1002, [frame('{}', { opcode: CONTINUATION })]],
    ['a message within a message', 1002, [frame('{', { isFinal: false }), frame('{}')]],
    ['a ping in parts', 1002, [frame('', { opcode: PING, isFinal: false })]],
    ['a ping of 126 bytes', 1002, [frame(Buffer.alloc(126), { opcode: PING })]],
    ['text that is not UTF-8', 1007, [frame(Buffer.from([0xff, 0xfe]))]],
    [
      'parts without an end',
      1008,
      [
        frame('[', { isFinal: false }),
        ...Array(5000).fill(frame('1', { opcode: CONTINUATION, isFinal: false })),
      ],
    ],
    [
      'parts that are too much together',
      1009,
      [
        frame('[', { isFinal: false }),
        ...Array(9).fill(frame(Buffer.alloc(8000, '1'), { opcode: CONTINUATION, isFinal: false })),
      ],
    ],
    ['binary before the opening', 4400, [frame(Buffer.alloc(8), { opcode: 2 })]],
    ['brackets', 4400, [frame('['.repeat(60_000))]],
    ['no JSON', 4400, [frame('{"sampling_rate_hz": 95')]],
    ['the close of a client', 1000, [frame(Buffer.from([3, 232]), { opcode: CLOSE })]],
  ])('%s: %d', async (_name, code, frames) => {
    expect(await closeCode(frames)).toBe(code);
  });

  it('takes a message in parts, with pings between', async () => {
    const client = await upgraded();
    client.socket.write(
      Buffer.concat([
        frame(OPENING.slice(0, 5), { isFinal: false }),
        frame('are you there', { opcode: PING }),
        frame(OPENING.slice(5, 6), { opcode: CONTINUATION, isFinal: false }),
        frame(OPENING.slice(6), { opcode: CONTINUATION }),
        frame(JSON.stringify(SIGNAL)),
      ]),
    );
    await client.receives(/are you there[\s\S]*"stream":[\s\S]*"window":0/);
    client.leave();
  });

  it('takes what comes with the handshake, byte by byte or at once', async () => {
    const all = Buffer.concat([
      Buffer.from(UPGRADE),
      frame(OPENING),
      frame(JSON.stringify(SIGNAL)),
    ]);
    const atOnce = await new RawClient(service).connected();
    atOnce.socket.write(all);
    await atOnce.receives(/"window":0/);
    atOnce.leave();
    const slow = await new RawClient(service).connected();
    for (const byte of all) slow.socket.write(Buffer.from([byte]));
    await slow.receives(/"window":0/);
    slow.leave();
  });

  it('ends a flood of pings whose answers nobody reads', async () => {
    const client = await upgraded({ reads: false });
    const pings = Buffer.concat(Array(1000).fill(frame(Buffer.alloc(125), { opcode: PING })));
    const before = figuresOf(service.child.pid as number).residentMb;
    let isClosed = false;
    client.socket.on('close', () => {
      isClosed = true;
    });
    for (let round = 0; round < 400 && !isClosed; round++) {
      if (!client.socket.write(pings)) {
        await within(
          () => 'a drained socket, or its end',
          new Promise<void>((resolve) => {
            client.socket.once('drain', resolve).once('close', () => resolve());
            setTimeout(resolve, 50);
          }),
        );
      }
    }
    const after = figuresOf(service.child.pid as number).residentMb;
    expect(after - before).toBeLessThan(100);
    client.leave();
    expect((await request(service, { path: '/health' })).status).toBe(200);
  });

  it('lets a client that only listens send any number of pings', async () => {
    const env = { BODY_LIMIT: String(LIMIT), BODY_MEMORY: String(4 * LIMIT) };
    const small = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg'), env });
    const client = await StreamClient.open(small, { sampling_rate_hz: 95 });
    await client.first('stream');
    // Each is a piece of its own, as Node counts them: of more than the memory for messages.
    for (let count = 0; count < 1500; count++) {
      const pong = new Promise((resolve) => client.socket.once('pong', resolve));
      client.socket[count % 2 === 0 ? 'ping' : 'pong']('x'.repeat(count % 126));
      if (count % 2 === 0) await within(() => `pong ${count}`, pong);
    }
    client.say({ gap: 1 });
    expect(await client.first('gap')).toMatchObject({ gap: { samples: 1 } });
    client.socket.terminate();
  });

  it('counts the parts of a message though pings come between them', async () => {
    const env = { BODY_LIMIT: String(4 * LIMIT), BODY_MEMORY: String(4 * LIMIT) };
    const small = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg'), env });
    const clients = await Promise.all([1, 2, 3].map(() => upgraded({ to: small })));
    for (let part = 0; part < 6; part++) {
      const opcode = part === 0 ? TEXT : CONTINUATION;
      for (const { socket } of clients) {
        socket.write(frame(Buffer.alloc(LIMIT / 2, 0x20), { opcode, isFinal: false }));
        socket.write(frame('', { opcode: PING }));
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Of three messages that are within BODY_LIMIT one alone fits into BODY_MEMORY.
    await until('the end of a connection', () => clients.some(({ isClosed }) => isClosed));
    for (const client of clients) client.leave();
  });

  it('lives through whatever comes', async () => {
    const random = seededRandom(99);
    const pick = (most: number): number => Math.floor(random() * most);
    const payloads = [
      OPENING,
      JSON.stringify(SIGNAL),
      '{"gap":3}',
      '{"end":true}',
      '[1e400,null]',
      '',
    ];
    for (let round = 0; round < 60; round++) {
      const clients = await Promise.all(Array.from({ length: 5 }, () => upgraded()));
      for (const client of clients) {
        if (random() < 0.7) client.socket.write(frame(OPENING));
        for (let i = 0; i < 1 + pick(6); i++) {
          const bytes = frame(payloads[pick(payloads.length)] as string, {
            opcode: pick(4) === 0 ? pick(16) : 1 + pick(2),
            isFinal: random() < 0.8,
            reserved: pick(10) === 0 ? pick(8) : 0,
            isMasked: random() < 0.95,
          });
          for (let flips = pick(3); flips > 0; flips--) {
            const at = pick(bytes.length);
            bytes[at] = (bytes[at] as number) ^ (1 << pick(8));
          }
          client.socket.write(bytes);
        }
      }
      for (const client of clients) client.leave();
    }
    const answer = await post(service, '/predict', { signal: SIGNAL });
    expect(answer.status).toBe(200);
    expect(service.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it('answers other upgrades as if they had not asked', async () => {
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' };
    const { status } = await request(service, { path: '/stream', headers });
    expect(status).toBe(426);
    const body = JSON.stringify({ signal: SIGNAL });
    const predicted = await request(service, {
      path: '/predict',
      method: 'POST',
      body,
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'content-type': 'application/json' },
    });
    expect(predicted.status).toBe(200);
  });

  it('answers a handshake that is none with JSON', async () => {
    const client = await new RawClient(service).connected();
    client.write(UPGRADE.replace(/Sec-WebSocket-Key: .*\r\n(?=\r\n)/, ''));
    await client.receives(
      /^HTTP\/1.1 400 [\s\S]*\{"detail":"Missing or invalid Sec-WebSocket-Key header\."\}$/,
    );
    client.leave();
  });
});
