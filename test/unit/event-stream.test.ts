import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { serveEventStream } from '../../src/http/event-stream';
import { Connections } from '../../src/serving/connections';
import type { Peer } from '../../src/serving/session';
import { until } from '../helpers/until';

const KEEP_ALIVE_MS = 40;

describe('converseByEvents', () => {
  let server: http.Server;
  let peer: Peer;
  let crash: unknown;
  let text = '';

  beforeEach(async () => {
    const connections = new Connections(10, () => {}, null);
    server = http.createServer((_, response) => {
      const talk = {
        onText: () => {},
        onBinary: () => {},
        onClose: () => {},
        onDrain: () => {},
        onError: (error: unknown) => {
          crash = error;
        },
      };
      const openSession = (other: Peer) => {
        peer = other;
        return talk;
      };
      serveEventStream(response as Response, connections, openSession, KEEP_ALIVE_MS);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    text = '';
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve) => {
      http.get({ port, host: '127.0.0.1', agent: false }, (response) => {
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more;
        });
        resolve();
      });
    });
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends comments for as long as it has nothing to say, and none after its end', async () => {
    await until('comments', () => text === ':\n\n:\n\n:\n\n');
    peer.send('{"window":0}');
    peer.close(1000, '');
    await until('the end', () =>
      text.endsWith('event: close\ndata: {"code":1000,"reason":""}\n\n'),
    );
    const end = text;
    expect(end.replaceAll(':\n\n', '')).toMatch(/^data: \{"window":0\}\n\nevent: close/);
    await new Promise((resolve) => setTimeout(resolve, 3 * KEEP_ALIVE_MS));
    expect(text).toBe(end);
    expect(crash).toBeUndefined();
  });
});
