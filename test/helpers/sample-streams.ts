/** What tests of the client's streams share: a signal, and what of it a stream answers that nothing disturbs. */
import { WebSocket } from 'ws';
import { type ClientOptions, EegClient, type StreamResult } from '../../src/client';
import type { Address } from './http';
import { normal, seededRandom } from './random';
import { StreamClient } from './streams';

export function signal(length: number): number[] {
  const random = seededRandom(5);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

/** Blocks of 1 to 300 samples. */
export function blocksOf(samples: readonly number[]): number[][] {
  const random = seededRandom(1);
  const blocks: number[][] = [];
  for (let at = 0; at < samples.length; ) {
    blocks.push(samples.slice(at, at + 1 + Math.floor(random() * 300)));
    at += blocks.at(-1)?.length as number;
  }
  return blocks;
}

export function clientOf(origin: string, options: ClientOptions = {}): EegClient {
  return new EegClient(origin, { WebSocket, ...options });
}

/** What is answered on one connection that does not break. @param first message */
export async function whole(
  service: Address,
  inputs: readonly unknown[],
  first: object,
): Promise<readonly object[]> {
  const client = await StreamClient.open(service, first);
  for (const input of inputs) client.say(input);
  client.say({ end: true });
  await client.closed;
  return client.messages.filter((message) => 'window' in message || 'gap' in message);
}

export async function all(stream: AsyncIterable<StreamResult>): Promise<StreamResult[]> {
  const answers: StreamResult[] = [];
  for await (const answer of stream) answers.push(answer);
  return answers;
}
