import { z } from 'zod';
import { ModelResolver } from '../../services/model-resolver';
import { ERRORS, type ErrorCode } from '../../serving/errors';
import { type Catalogue, type ServedModel, singleModelCatalogue } from '../../tasks/served-model';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { embed, embedPrompt } from './embed';
import { listModels, listRunning, showModel, version } from './models';

/** Errors that Ollama reports as 400. */
const BAD_REQUEST: ReadonlySet<ErrorCode> = new Set(['BODY_INVALID', 'INPUT_TOO_LONG']);

const errors: ErrorFormat = {
  status: (code) => (BAD_REQUEST.has(code) ? 400 : ERRORS[code].http),
  body: ({ message }) => ({ error: message }),
};

/** Ollama's API for one model; null: the model does not embed texts. */
export function ollama(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'embedding');
  const catalogue = singleModelCatalogue(served);
  return models && ollamaOf(models, options, () => catalogue);
}

/** Ollama's API for all embedding models. */
export function ollamaOf(
  models: ModelResolver<'embedding'>,
  options: ProtocolOptions,
  catalogue: () => Catalogue,
): Protocol {
  return {
    routes: [
      embed(models, options),
      embedPrompt(models, options),
      listModels(catalogue),
      listRunning(catalogue),
      showModel(models),
      version(options),
    ],
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Ollama', description: "Embeddings with Ollama's API." },
    error: { name: 'OllamaError', schema: z.object({ error: z.string() }) },
  };
}
