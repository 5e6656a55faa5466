import { z } from 'zod';
import { softmax } from '../../lib/numbers';
import {
  findGliner2Folder,
  type Gliner2Architecture,
  type Gliner2Metadata,
  gliner2ArchitectureOf,
  readGliner2,
} from '../../models/gliner2/directory';
import type { EntityInput as NativeEntityInput } from '../../native/engine';
import { withCalibratedDecisions } from '../calibration/decision-calibration';
import { type OptionLogits, toOptionLogits } from '../decision/option-logits';
import { optionTensors } from '../decision/option-tensors';
import { toCandidates } from '../entity-recognition/candidates';
import type { Candidates, EntityInput } from '../entity-recognition/entities';
import { entityTensors } from '../entity-recognition/tensors';
import type { ModelMetadata } from '../predictor';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { withoutAddedPeriod } from './added-period';
import { type ClassInput, classRecipe, gliner2Prompt } from './class-sequence';

export type Gliner2ModelMetadata = Gliner2Metadata & ModelMetadata;

/** An input of a model for both: a text with entity types, or with classes. */
type Gliner2Input = EntityInput | ClassInput;
type Gliner2Answer = Candidates | OptionLogits;

/** Name of the task in the prompt of the Open Inference Protocol and of zero-shot classification. */
export const CLASSIFICATION = 'classification';

const NO_ENTITIES =
  'config.json: architecture: boundary: the model classifies texts and answers questions, but finds no entities here. Use a model with the architecture span to find entities';

const read = withCalibratedDecisions(readGliner2);

const info = {
  schemas: { max_length: z.int().optional().describe('Tokens of the labels and the text') },
  of: (_: unknown, { maxLength }: { readonly maxLength: number }) => ({ max_length: maxLength }),
};

/** What GLiNER2 models of an architecture have in common. */
function folderOf(architecture: Gliner2Architecture) {
  const isOwn = (folder: string) => gliner2ArchitectureOf(folder) === architecture;
  return {
    disclaimer: null,
    inputKind: 'texts',
    resolveModelPath: (location: string) => findGliner2Folder(location, architecture),
    findModelPaths: (folder: string) => (isOwn(folder) ? [folder] : []),
    isDeclaredFor: isOwn,
    listFiles: (directory: string) => read(directory).files,
    read,
    logFields: () => ({}),
    info,
  } as const;
}

/** Entities and classes that a request names, with GLiNER2 models of the architecture `span`. */
export const gliner2: Task<Gliner2Input, Gliner2Answer, Gliner2ModelMetadata> = {
  ...folderOf('span'),
  name: 'gliner2',
  summary:
    'Spans of texts to entity types, and texts to labels, that a request names, as `extract_entities` and `classify_text` of gliner2.',
  capabilities: ['entity-recognition', 'zero-shot', 'decision'],
  validateLoaded: () => [],
  prepare: (input) => (isOfEntities(input) ? entityInput(input) : classRecipe(input)),
  toPrediction: (inference, _, index, input) =>
    isOfEntities(input)
      ? withoutAddedPeriod(toCandidates(inference, index, input))
      : toOptionLogits(inference, index),
  tensors: entityTensors as unknown as Tensors<Gliner2Input, Gliner2Answer, Gliner2ModelMetadata>,
  page: 'entities',
};

/** Labels that a request names, with GLiNER2 models of the architecture `boundary`. They find no entities here. */
export const gliner2Classification: Task<ClassInput, OptionLogits, Gliner2ModelMetadata> = {
  ...folderOf('boundary'),
  name: 'gliner2-classification',
  summary: 'Texts to labels that a request names, as `classify_text` of gliner2.',
  capabilities: ['zero-shot', 'decision'],
  validateLoaded: () => [NO_ENTITIES],
  prepare: classRecipe,
  toPrediction: (inference, _, index) => toOptionLogits(inference, index),
  tensors: optionTensors<ClassInput, Gliner2ModelMetadata>({
    toInput: (text, options, instructions) => ({
      text,
      truncationSide: 'right',
      task: CLASSIFICATION,
      instructions,
      classes: options.map((name) => ({ name, description: null })),
    }),
    toProbabilities: softmax,
  }),
  page: 'decisions',
};

export function isGliner2(task: Task): boolean {
  const tasks: readonly unknown[] = [gliner2, gliner2Classification];
  return tasks.includes(task);
}

function isOfEntities(input: Gliner2Input): input is EntityInput {
  return 'threshold' in input;
}

function entityInput({ text, labels, threshold }: EntityInput): NativeEntityInput {
  const types = labels.map(({ name, description }) => ({
    name,
    description: description ?? null,
  }));
  return {
    text,
    labels: labels.map(({ name }) => name),
    threshold,
    task: gliner2Prompt('entities', null, types),
  };
}
