import { entityRecognition } from '../../tasks/entity-recognition/entity-recognition-task';
import { gliner2 } from '../../tasks/gliner2/gliner2-task';
import { tokenClassification } from '../../tasks/token-classification/token-classification-task';
import type { BatchCommand } from './batch-command';
import { taskCommand } from './task-command';

const TOKENS = taskCommand('tag', tokenClassification, [
  'Finds entities and their labels as the token-classification pipeline of transformers does: a column',
  '`tags`, a list of objects, in CSV as JSON.',
  'With --labels a GLiNER model finds entities of these types, see below.',
]);

const ENTITIES = taskCommand(
  'tag',
  entityRecognition,
  [
    'Finds entities of the types in --labels as GLiNER.predict_entities does, or extract_entities of',
    'gliner2: a column `tags`, a list of objects, in CSV as JSON. Long texts are read in windows.',
  ],
  (folder) => (gliner2.findModelPaths(folder).length > 0 ? gliner2 : entityRecognition),
);

const isLabels = (argument: string) => argument === '--labels' || argument.startsWith('--labels=');

/** `tag`: a token classifier or, with `--labels`, a model that finds entities of these types. */
export const TAG: BatchCommand = {
  help: [...TOKENS.help, '', 'With --labels:', '', ...ENTITIES.help],
  read: (args) => (args.some(isLabels) ? ENTITIES : TOKENS).read(args),
};
