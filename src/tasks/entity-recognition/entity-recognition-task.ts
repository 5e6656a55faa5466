import { z } from 'zod';
import { findGlinerFolder, isGliner, readGliner } from '../../models/gliner/directory';
import type { Task } from '../task';
import { toCandidates } from './candidates';
import type { Candidates, EntityInput, EntityMetadata } from './entities';
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
  toPrediction: (inference, _, index, input) => toCandidates(inference, index, input),
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
