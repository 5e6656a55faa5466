/** Folders of GLiNER models that lack files or keys. */
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readGliner } from '../../src/models/gliner/directory';
import { FIXTURES } from '../helpers/service';

let folder: string;

beforeEach(() => {
  folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'gliner-')), 'model');
  cpSync(path.join(FIXTURES, 'gliner/bi-modernbert-marker'), folder, { recursive: true });
});

afterEach(() => rmSync(path.dirname(folder), { recursive: true }));

function change(name: string, keys: object): void {
  const file = path.join(folder, name);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...keys }));
}

const problem = (): string => {
  try {
    readGliner(folder);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('expected an error');
};

it('lists the files of the encoder of labels', () => {
  const { source, files } = readGliner(folder);
  expect(source.labelEncoder).toMatchObject({
    modelType: 'bert',
    config: { hidden_size: 24 },
    basePrefix: 'token_rep_layer.labels_encoder.model',
    tokenizerDirectory: path.join(folder, 'labels_tokenizer'),
  });
  expect(files).toContain(path.join(folder, 'labels_tokenizer', 'tokenizer.json'));
});

it('reads one encoder if the configuration names no encoder of labels', () => {
  change('gliner_config.json', { labels_encoder: null });
  expect(readGliner(folder).source).not.toHaveProperty('labelEncoder');
});

it('names the folder or key of an encoder of labels that cannot be read', () => {
  renameSync(path.join(folder, 'labels_tokenizer'), path.join(folder, 'other'));
  expect(problem()).toMatch(
    /^labels_tokenizer: expected a folder with the tokenizer of the labels/,
  );
  renameSync(path.join(folder, 'other'), path.join(folder, 'labels_tokenizer'));
  writeFileSync(path.join(folder, 'labels_tokenizer/tokenizer_config.json'), '{');
  expect(problem()).toMatch(/^labels_tokenizer\/tokenizer_config.json: is not JSON/);
  cpSync(
    path.join(FIXTURES, 'gliner/bi-modernbert-marker/labels_tokenizer'),
    path.join(folder, 'labels_tokenizer'),
    { recursive: true },
  );
  change('gliner_config.json', { labels_encoder_config: null });
  expect(problem()).toMatch(/^gliner_config.json: labels_encoder_config: expected/);
  change('gliner_config.json', { labels_encoder_config: { model_type: 7 } });
  expect(problem()).toMatch(/^gliner_config.json: labels_encoder_config.model_type: /);
  const rejected = { model_type: 'bert', is_decoder: true };
  change('gliner_config.json', { labels_encoder_config: rejected });
  expect(problem()).toMatch(/^gliner_config.json: labels_encoder_config\.is_decoder/);
});

it('rejects architectures that do more than finding entities', () => {
  change('gliner_config.json', { relations_layer: 'dot' });
  expect(problem()).toMatch(/^gliner_config.json: relations_layer: .*only find entities/);
});
