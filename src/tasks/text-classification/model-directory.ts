import { z } from 'zod';
import { existingFiles, ModelFileError } from '../../models/files';
import {
  CONFIG,
  type ModelConfig,
  modelConfig,
  programSource,
  readDirectory,
  readIdentity,
  weightsSource,
} from '../../models/hugging-face/directory';
import {
  countLabels,
  findEntailmentOutput,
  labelConfig,
  labelNames,
} from '../../models/hugging-face/labels';
import { findModelFiles } from '../../models/hugging-face/weight-files';
import { checkModelJson } from '../../models/json';
import type { TextModelSource, TextProgramSource } from '../../native/engine';
import { CALIBRATION, type Calibration, readCalibration } from '../calibration/calibration';
import { calibratedDecisions, DECISION_CALIBRATION } from '../calibration/decision-calibration';
import type { ClassifierMetadata } from '../capabilities';
import {
  chooseScoreFunction,
  PROBLEM_TYPES,
  SCORE_FUNCTIONS,
  type ScoreFunction,
} from '../classification';

const configSchema = modelConfig.extend({
  ...labelConfig,
  problem_type: z.enum(PROBLEM_TYPES).nullish(),
  function_to_apply: z.enum(SCORE_FUNCTIONS).nullish(),
});

/** Required for models with weights. Programs need no architecture. */
const architectureSchema = z.looseObject({
  architectures: z
    .array(z.string())
    .nullish()
    .refine((names) => !names || names.some((name) => name.endsWith('ForSequenceClassification')), {
      error: ({ input }) => {
        const fix = /ForCausalLM/.test(String(input))
          ? '. To rerank with it, set "task": "reranking" in model.json'
          : '';
        return `expected a model for sequence classification, found ${String(input)}${fix}`;
      },
    }),
});

export interface TextClassifierMetadata extends ClassifierMetadata {
  readonly scoreFunction: ScoreFunction;
  /** Null: the scores are those of transformers. */
  readonly calibration: Calibration | null;
  /** Index of the output that label2id names entailment; null: no such output. */
  readonly namedEntailment: number | null;
}

export interface TextClassifierFiles {
  readonly source: TextModelSource | TextProgramSource;
  /** Absolute paths of the configuration, the tokenizer, and the weights or the program. */
  readonly files: readonly string[];
  readonly metadata: TextClassifierMetadata;
}

/** @throws ModelFileError */
export function readTextClassifier(directory: string): TextClassifierFiles {
  const { config, files } = readDirectory(directory, configSchema);
  const numLabels = countLabels(config);
  const problemType = config.problem_type ?? null;
  if (problemType === 'single_label_classification' && numLabels === 1) {
    throw new ModelFileError(
      `${CONFIG}: problem_type: single_label_classification needs at least 2 labels, found 1`,
    );
  }
  const source = findSource(directory, config, numLabels);
  const labels = labelNames(config.id2label, numLabels);
  const scoreFunction = chooseScoreFunction(problemType, numLabels);
  return {
    source,
    files: [
      ...files,
      ...existingFiles(directory, [CALIBRATION, DECISION_CALIBRATION]),
      ...('weightFiles' in source ? source.weightFiles : [source.path]),
    ],
    metadata: {
      ...readIdentity(config),
      labels,
      scoreFunction,
      calibration: readCalibration(directory, labels, scoreFunction),
      ...calibratedDecisions(directory),
      namedEntailment: findEntailmentOutput({ ...config, count: numLabels }),
    },
  };
}

function findSource(
  directory: string,
  config: ModelConfig,
  numLabels: number,
): TextModelSource | TextProgramSource {
  const found = findModelFiles(directory);
  if ('program' in found) {
    return programSource(directory, config, { program: found.program, numLabels });
  }
  checkModelJson(CONFIG, architectureSchema, config);
  const { weightFiles } = found;
  return weightsSource(directory, config, {
    weightFiles,
    head: { name: 'sequence-classification' },
    added: { num_labels: numLabels },
  });
}
