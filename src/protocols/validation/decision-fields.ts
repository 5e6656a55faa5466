import { parseForPython } from '../../lib/python-json';
import { jsonText, parseJson, requireJsonType } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';

export const IMAGES_UNSUPPORTED = 'images are not supported. Send texts only';

/** JSON Schema of a text, or of JSON that the model reads as text. */
export const TEXT_OR_JSON = {
  anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: {} }],
};
export const OPTIONAL_TEXT_OR_JSON = {
  anyOf: [...TEXT_OR_JSON.anyOf, { type: 'null' }],
};

/** Reads the body of a route whose `body` is bytes, for its schema. @throws ServiceError */
export function readJsonBody(call: ServiceRequest): unknown {
  requireJsonType(call.header('content-type'));
  return parseJson(call.body);
}

/**
 * The validated body once more, with its numbers and keys as Python would print them: see `parseForPython`. Read objects
 * with keys of the client by `entriesOf`.
 */
export function exactBody<Body>({ body }: ServiceRequest): Body {
  return parseForPython(jsonText(body as Buffer)) as Body;
}
