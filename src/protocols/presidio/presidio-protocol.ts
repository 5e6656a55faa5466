import { z } from 'zod';
import { PiiService } from '../../services/pii';
import { ERRORS, ServiceError } from '../../serving/errors';
import { ANONYMIZERS, DEANONYMIZERS } from '../../tasks/pii/operators';
import type { Catalogue } from '../../tasks/served-model';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { analyze } from './analyze';
import { anonymize, deanonymize } from './anonymize';

const errors: ErrorFormat = {
  status: (code) => (code === 'INPUT_TOO_LONG' ? 413 : ERRORS[code].http),
  body: ({ message }) => ({ error: message }),
};

const names = z.array(z.string());

/**
 * The HTTP API of Presidio's analyzer and anonymizer, below /presidio: patterns, and names and places of the models of
 * the server.
 */
export function presidioOf(catalogue: () => Catalogue, options: ProtocolOptions): Protocol {
  const pii = new PiiService(catalogue);
  return {
    routes: [
      analyze(pii, options),
      anonymize(),
      deanonymize(),
      list('/presidio/recognizers', 'presidioRecognizers', 'Names of the recognizers', (call) => {
        requireEnglish(call.query.get('language'));
        return pii.recognizers;
      }),
      list(
        '/presidio/supportedentities',
        'presidioEntities',
        'Entities that can be found',
        (call) => {
          requireEnglish(call.query.get('language'));
          return pii.entities;
        },
      ),
      list('/presidio/anonymizers', 'presidioAnonymizers', 'Operators of anonymize', () =>
        Object.keys(ANONYMIZERS),
      ),
      list('/presidio/deanonymizers', 'presidioDeanonymizers', 'Operators of deanonymize', () =>
        Object.keys(DEANONYMIZERS),
      ),
      health(),
    ],
    prefix: '/presidio/',
    errors,
    probes: ['/presidio/health'],
    info: null,
    routesByBodyModel: true,
    tag: {
      name: 'Presidio',
      description: 'The analyzer and the anonymizer of Presidio, version 2.2.366, in English.',
    },
    error: { name: 'PresidioError', schema: z.object({ error: z.string() }) },
  };
}

function list(
  path: string,
  operationId: string,
  summary: string,
  read: (call: Parameters<Route['handle']>[0]) => readonly string[],
): Route {
  return route({
    method: 'GET',
    path,
    operationId,
    summary,
    response: names,
    examples: null,
    errors: ['REQUEST_INVALID'],
    handler: (call) => ({ body: [...read(call)] }),
  });
}

/** @throws ServiceError REQUEST_INVALID */
function requireEnglish(language: string | null): void {
  if (language === null || language === 'en') return;
  throw new ServiceError('REQUEST_INVALID', 'language: expected "en", the only language');
}

function health(): Route {
  const text = 'Presidio Analyzer service is up';
  return {
    method: 'GET',
    path: '/presidio/health',
    operation: null,
    handle: () => ({
      body: Buffer.from(text),
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    }),
  };
}
