import http from 'node:http';
import net from 'node:net';
import type { Response } from 'express';
import { endResponse, UnsentResponses } from '../../src/http/http-request-context';
import { Connections } from '../../src/serving/connections';

/** An answer that waits behind another one: it has no socket yet. */
function pipelined(isOver: boolean): Response {
  const connections = new Connections(10, () => undefined, null);
  const response = new http.ServerResponse(new http.IncomingMessage(new net.Socket()));
  const locals = { isOver, unsentResponses: new UnsentResponses(1000, connections) };
  return Object.assign(response, { locals }) as unknown as Response;
}

describe('endWith', () => {
  it('keeps an account of an answer that waits, until it is closed', () => {
    const response = pipelined(false);
    endResponse(response, 'answer');
    expect([response.writableEnded, response.listenerCount('close')]).toEqual([true, 1]);
    response.emit('close');
  });

  it('keeps none of one that is closed: it would be for ever', () => {
    const response = pipelined(true);
    endResponse(response, 'answer');
    expect([response.writableEnded, response.listenerCount('close')]).toEqual([false, 0]);
  });
});
