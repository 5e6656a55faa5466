import { parseJson } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import { string } from '../validation/fields';

/** Clients send JSON with any content type, as `curl -d` does. */
export const ANY_CONTENT_TYPE = {
  body: 'bytes',
  read: ({ body }: ServiceRequest) => parseJson(body),
} as const;

export const modelName = () => string().describe('Name of a model; a tag `:latest` is ignored');
