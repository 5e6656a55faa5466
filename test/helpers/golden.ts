import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from './service';

/** Answers of transformers and torch, written by test/parity. */
interface GoldenAnswer {
  readonly input_ids: readonly number[];
  readonly truncated: boolean;
  readonly logits: readonly number[];
  readonly label: string;
  readonly score: number;
}

export interface GoldenText extends GoldenAnswer {
  readonly text: string;
}

export interface GoldenTexts {
  readonly max_length: number;
  readonly texts: readonly GoldenText[];
}

export interface GoldenWindows {
  readonly windows: readonly {
    readonly name: string;
    readonly signal: readonly number[];
    /** As float32. */
    readonly normalized: readonly number[];
  }[];
}

export interface GoldenEeg {
  readonly models: readonly {
    readonly file: string;
    /** In the order of the windows. */
    readonly answers: readonly {
      readonly logits: readonly number[];
      readonly probabilities: readonly number[];
    }[];
  }[];
}

export function readFixture<Content>(...names: readonly string[]): Content {
  return JSON.parse(readFileSync(path.join(FIXTURES, ...names), 'utf8')) as Content;
}

export function readGolden(model: string): GoldenTexts {
  const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
  const { max_length, answers } = readFixture<{
    max_length: number;
    answers: readonly GoldenAnswer[];
  }>('models', model, 'golden.json');
  return { max_length, texts: answers.map((row, i) => ({ ...row, text: texts[i] as string })) };
}

export interface GoldenPair extends GoldenAnswer {
  readonly text: string;
  readonly pair: string;
}

/** Answers for two texts at once. */
export function readGoldenPairs(model: string): readonly GoldenPair[] {
  const texts = readFixture<{ pairs: readonly (readonly [string, string])[] }>(
    'pairs',
    'texts.json',
  );
  const { answers } = readFixture<{
    answers: readonly (GoldenAnswer & { readonly pair: number })[];
  }>('pairs', 'models', `${model}.json`);
  return answers.map((row) => {
    const [text, pair] = texts.pairs[row.pair] as readonly [string, string];
    return { ...row, text, pair };
  });
}

export function textModelNames(): readonly string[] {
  return readdirSync(path.join(FIXTURES, 'models')).sort();
}
