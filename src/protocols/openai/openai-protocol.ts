import { type Catalogue, singleModelCatalogue } from '../../tasks/catalogue';
import { type ServedModel, withCapability } from '../../tasks/served';
import { ModelResolver } from '../model-resolver';
import type { Protocol, ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { embeddings } from './embeddings';
import { errorAnswer, errors } from './openai-errors';

/** The API of OpenAI, of a service of one model. */
export function openAi(served: ServedModel, surroundings: ProtocolOptions): Protocol | null {
  if (!withCapability(served, 'embeds texts')) return null;
  const catalogue = singleModelCatalogue(served);
  return openAiOf(() => catalogue, surroundings);
}

/** The same of all models that can be named. */
export function openAiOf(catalogue: () => Catalogue, surroundings: ProtocolOptions): Protocol {
  return openAiProtocol([embeddings(new ModelResolver(catalogue, 'embeds texts'), surroundings)]);
}

export function openAiProtocol(endpoints: readonly Route[]): Protocol {
  return {
    routes: endpoints,
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'OpenAI', description: 'What the `openai` clients for Python and Node ask.' },
    error: { name: 'OpenAIError', schema: errorAnswer },
  };
}
