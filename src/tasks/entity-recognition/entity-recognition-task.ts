import { z } from 'zod';
import { allFinite } from '../../lib/numbers';
import { findGlinerFolder, isGliner, readGliner } from '../../models/gliner/directory';
import { EngineError } from '../../native/engine';
import type { Task } from '../task';
import type { Candidates, EntityInput, EntityMetadata } from './entities';
import { SpanRows } from './span-rows';
import { entityTensors } from './tensors';

/** Entities of the types that a request names, with GLiNER models. */
export const entityRecognition: Task<EntityInput, Candidates, EntityMetadata> = {
  name: 'entity-recognition',
  summary: 'Spans of texts to labels that a request names, as `GLiNER.predict_entities`.',
  disclaimer: null,
  inputKind: 'texts',
  capabilities: ['entity-recognition'],
  resolveModelPath: findGlinerFolder,
  findModelPaths: (folder) => (isGliner(folder) ? [folder] : []),
  isDeclaredFor: isGliner,
  listFiles: (directory) => readGliner(directory).files,
  read: readGliner,
  validateLoaded: () => [],
  prepare: ({ text, labels, threshold }) => ({
    text,
    labels: labels.map(({ prompt }) => prompt),
    threshold,
  }),
  toPrediction: (inference, _, index, input) => {
    const { values, words } = inference;
    if (!allFinite(values)) {
      const message = 'The model returned an output that is not finite.';
      throw new EngineError('INFERENCE_FAILED', message, { index });
    }
    const wasRun = words !== undefined && words.lengths.length <= 1;
    return { candidates: wasRun ? new SpanRows(values) : null, input, inference };
  },
  logFields: () => ({}),
  info: {
    schemas: {
      max_length: z.int().optional().describe('Tokens; longer texts are read in windows'),
    },
    of: (_, { maxLength }) => ({ max_length: maxLength }),
  },
  tensors: entityTensors,
  page: 'entities',
};
