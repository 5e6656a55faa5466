import path from 'node:path';
import { z } from 'zod';
import type { LabelEncoder, TextHead } from '../../native/engine';
import { ModelFileError } from '../files';
import { readTokenizerFiles } from '../hugging-face/directory';
import { encoderSource } from '../hugging-face/encoder-source';

/** Folder of the tokenizer of the labels, which `GLiNER.save_pretrained` writes. */
const TOKENIZER = 'labels_tokenizer';

/** Prefix of the keys of the encoder in the weight file of the model. */
const ENCODER = 'token_rep_layer.labels_encoder.model';

/** Head of an encoder that is described alone. */
const NO_HEAD: TextHead = { name: 'embedding', modules: [] };

/** Keys of gliner_config.json. */
export const labelEncoderKeys = {
  /** Name of the encoder; null: the encoder of the text reads the labels, too. */
  labels_encoder: z.string().nullish(),
  labels_encoder_config: z.looseObject({ model_type: z.string().default('deberta-v2') }).nullish(),
};

type LabelEncoderConfig = z.output<z.ZodObject<typeof labelEncoderKeys>>;

/**
 * Reads the encoder of labels of a bi-encoder, except its weights.
 *
 * @param weightFiles of the model
 * @returns the encoder and the absolute paths of its tokenizer files; null: the model has none
 * @throws ModelFileError
 */
export function readLabelEncoder(
  directory: string,
  { labels_encoder, labels_encoder_config }: LabelEncoderConfig,
  weightFiles: readonly string[],
): { readonly labelEncoder: LabelEncoder; readonly files: readonly string[] } | null {
  if (labels_encoder == null) return null;
  if (labels_encoder_config == null) {
    throw new ModelFileError(
      'gliner_config.json: labels_encoder_config: expected the configuration of the encoder of labels. ' +
        'Save the model with a current version of gliner',
    );
  }
  const folder = path.join(directory, TOKENIZER);
  const files = readTokenizer(folder);
  if (files.length === 0) {
    throw new ModelFileError(
      `${TOKENIZER}: expected a folder with the tokenizer of the labels, found none. ` +
        'Save the model with a current version of gliner',
    );
  }
  const { modelType, config, tokenizerDirectory } = encoderSource(folder, labels_encoder_config, {
    configLocation: 'gliner_config.json: labels_encoder_config.',
    weightFiles,
    head: NO_HEAD,
  });
  return { labelEncoder: { modelType, config, tokenizerDirectory, basePrefix: ENCODER }, files };
}

/** Names the folder in errors: the root of the model has files with the same names. */
function readTokenizer(folder: string): readonly string[] {
  try {
    return readTokenizerFiles(folder);
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    throw new ModelFileError(`${TOKENIZER}/${error.message}`);
  }
}
