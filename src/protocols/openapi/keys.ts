import { jsonContent, type Node, response, schemaReference } from './responses';

const SCHEME = 'key';
const OWN = schemaReference('Error');

const NO_KEY = response(
  'There is no key in one Authorization header, or it is not known.',
  jsonContent('Error', { detail: 'The API key is not known.' }),
  { 'WWW-Authenticate': { schema: { const: 'Bearer' } } },
);

/** What is added to the description. */
const NEEDED =
  ' Who asks needs a key, `Authorization: Bearer KEY`, but on paths that say otherwise. Without one ' +
  'everything is 401, paths that are not listed too.';

/** The document of the same service where keys are set. */
export function withKeys(document: Node, isPublic: (path: string) => boolean): Node {
  const { info, paths, components } = document as Readonly<Record<string, Node>>;
  const described = Object.entries(paths as Readonly<Record<string, Operations>>);
  return {
    ...document,
    info: { ...info, description: `${info?.description}${NEEDED}` },
    security: [{ [SCHEME]: [] }],
    paths: Object.fromEntries(
      described.map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            method !== 'post' && isPublic(path)
              ? { ...operation, security: [] }
              : { ...operation, responses: { ...operation.responses, 401: noKey(operation) } },
          ]),
        ),
      ]),
    ),
    components: {
      ...components,
      securitySchemes: { [SCHEME]: { type: 'http', scheme: 'bearer' } },
    },
  };
}

interface Operation {
  readonly responses: Readonly<Record<string, Node>>;
}

type Operations = Readonly<Record<string, Operation>>;

/** In the form of the operation's other errors: those of protocols have one of their own. */
function noKey({ responses }: Operation): Node {
  const error = Object.entries(responses).find(([status]) => Number(status) >= 400)?.[1];
  const content = error?.content as Readonly<Record<string, Node>> | undefined;
  const schema = content?.['application/json']?.schema;
  const isOwn = schema === undefined || JSON.stringify(schema) === JSON.stringify(OWN);
  return isOwn ? NO_KEY : { ...NO_KEY, content: { 'application/json': { schema } } };
}
