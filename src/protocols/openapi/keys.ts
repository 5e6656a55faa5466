import { jsonContent, type Node, response } from './responses';

const SCHEME = 'key';
const OWN = 'Error';

const NO_KEY = 'There is no key in one Authorization header, or it is not known.';
const NO_KEY_HEADERS = { 'WWW-Authenticate': { schema: { const: 'Bearer' } } };

/** What is added to the description where keys are set. */
export const KEY_NEEDED =
  ' Who asks needs a key, `Authorization: Bearer KEY`, but on paths that say otherwise. Without one ' +
  'everything is 401, paths that are not listed too.';

/** Of the document where keys are set. */
export const KEY_SECURITY: Node = { security: [{ [SCHEME]: [] }] };
export const KEY_SCHEMES: Node = {
  securitySchemes: { [SCHEME]: { type: 'http', scheme: 'bearer' } },
};

/**
 * An operation where keys are set.
 *
 * @param error the schema in which its other errors are told: those of protocols have one of their own
 */
export function withKey(operation: Node, isPublic: boolean, error = OWN): Node {
  if (isPublic) return { ...operation, security: [] };
  const example = error === OWN ? { detail: 'The API key is not known.' } : undefined;
  const refused = response(NO_KEY, jsonContent(error, example), NO_KEY_HEADERS);
  return { ...operation, responses: { ...(operation.responses as Node), 401: refused } };
}
