import type { z } from 'zod';
import { type Node, toSchema } from '../protocols/openapi/responses';
import {
  CONTROLS,
  endAnswer,
  errorAnswer,
  gapAnswer,
  openedAnswer,
  opening,
  resumption,
  SAMPLES_SCHEMA,
  windowAnswer,
} from './messages';

const JSON_TYPE = 'application/json';
const CHANNEL = '#/channels/stream';

interface Message {
  readonly summary: string;
  readonly payload: z.ZodType | Node;
  readonly contentType?: string;
  readonly example?: object;
}

/** What a client says. */
const RECEIVED: Readonly<Record<string, Message>> = {
  opening: {
    summary: 'The first message of a stream',
    payload: opening,
    example: { sampling_rate_hz: 256, step: 64, format: 'f32' },
  },
  resumption: {
    summary:
      'The first message of a stream that goes on, within a minute after its connection broke',
    payload: resumption,
    example: { resume: { stream: 'uX8m2yPq0dJ4sT6vB1nCkE7z', next_window: 17 } },
  },
  numbers: { summary: 'Samples, where "format" is "json"', payload: SAMPLES_SCHEMA },
  float32: {
    summary: 'Samples, where "format" is "f32": little-endian float32',
    payload: { type: 'string', format: 'binary' },
    contentType: 'application/octet-stream',
  },
  samples: {
    summary: 'Samples, with the place of the first one',
    payload: CONTROLS.samples,
    example: { samples: [1.5, 2.25], at: 1024 },
  },
  at: {
    summary: 'Where the next sample is; later than expected: a gap',
    payload: CONTROLS.at,
    example: { at: '2026-01-31T12:00:04.000Z' },
  },
  gap: {
    summary: 'Samples are missing: no window spans them',
    payload: CONTROLS.gap,
    example: { gap: 12 },
  },
  received: {
    summary: 'Answers up to this window have come, and need not be kept for "resume"',
    payload: CONTROLS.received,
    example: { received: 16 },
  },
  end: {
    summary: 'There are no more samples',
    payload: CONTROLS.end,
    example: { end: true },
  },
};

/** What it is told. */
const SENT: Readonly<Record<string, Message>> = {
  opened: { summary: 'The stream goes on from there', payload: openedAnswer },
  window: { summary: 'The answer to a window, in their order', payload: windowAnswer },
  gapSeen: { summary: 'Windows begin anew after a gap', payload: gapAnswer },
  ended: { summary: 'All windows have been answered', payload: endAnswer },
  error: { summary: 'Why the connection is closed, before it is', payload: errorAnswer },
};

const CLOSES =
  'It is closed with 1000 after the end; 1001 when the service or the model goes, with `{"next_window", ' +
  '"next_sample"}` as the reason: where to go on elsewhere; 1013 when there is no memory for another stream; 4400 ' +
  'after a message that is not as it should be, 1003 after one of another kind than was agreed on; 4404 when there ' +
  'is no stream to resume, 4409 when it cannot go on from there, or goes on with another connection; 4408 when no ' +
  'message opened it, or answers were not taken.';

/** The AsyncAPI 3.0 document of `/stream`. */
export function describeSocket(notice: string | null, version: string): Node {
  const messages = { ...RECEIVED, ...SENT };
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'libtorch-serve: streams of signals',
      version,
      license: { name: 'Apache-2.0' },
      description: `${notice ?? ''}Samples of one channel in, an answer to each window out. ${CLOSES}`,
    },
    defaultContentType: JSON_TYPE,
    channels: {
      stream: {
        address: '/stream',
        description: 'A WebSocket, without compression.',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: { ws: { method: 'GET' } },
      },
    },
    operations: {
      hear: operation('receive', Object.keys(RECEIVED)),
      answer: operation('send', Object.keys(SENT)),
    },
    components: {
      messages: Object.fromEntries(
        Object.entries(messages).map(([name, message]) => [name, describeMessage(name, message)]),
      ),
    },
  };
}

function operation(action: 'send' | 'receive', names: readonly string[]): Node {
  return {
    action,
    channel: { $ref: CHANNEL },
    messages: names.map((name) => ({ $ref: `${CHANNEL}/messages/${name}` })),
  };
}

function describeMessage(name: string, message: Message): Node {
  const { summary, payload, contentType = JSON_TYPE, example } = message;
  return {
    name,
    summary,
    contentType,
    payload: isNode(payload) ? payload : toSchema(payload),
    ...(example && { examples: [{ payload: example }] }),
  };
}

function isNode(payload: z.ZodType | Node): payload is Node {
  return !('safeParse' in payload);
}
