import type { Tensors } from '../tensors';
import type { OptionLogits } from './option-logits';

const MAX_OPTIONS = 255;

/**
 * Tensors of models that choose among the options of a request. OPTIONS: for each text a JSON array of texts. The
 * output has a row for each option; OPTION_COUNT has the number of options of each text.
 */
export function optionTensors<Input, Metadata>({
  toInput,
  toProbabilities,
}: {
  readonly toInput: (
    text: string,
    options: readonly string[],
    instructions: string | null,
  ) => Input;
  readonly toProbabilities: (logits: Float32Array, metadata: Metadata) => Float32Array;
}): Tensors<Input, OptionLogits, Metadata> {
  return {
    inputs: [
      { name: 'TEXT', content: 'text', optional: false },
      { name: 'OPTIONS', content: 'text', optional: false },
      { name: 'INSTRUCTIONS', content: 'text', optional: true },
    ],
    outputs: () => [
      { name: 'PROBABILITIES', datatype: 'FP32', shape: [-1] },
      { name: 'OPTION_COUNT', datatype: 'UINT32', shape: [-1] },
    ],
    hasRowPerToken: true,
    labeledOutput: () => null,
    findProblem: () => null,
    // Instructions are any text, and are not parsed.
    findOtherProblem: (options, name) =>
      name === 'OPTIONS' ? problemOf(parseOptions(options as string)) : null,
    toInput: ([text, options, instructions]) =>
      toInput(
        text as string,
        parseOptions(options as string) as readonly string[],
        (instructions as string | undefined) ?? null,
      ),
    write: (answers, metadata) => {
      const rows = answers.flatMap(({ logits }) => [...toProbabilities(logits, metadata)]);
      const counts = Uint32Array.from(answers, ({ logits }) => logits.length);
      return [
        {
          name: 'PROBABILITIES',
          datatype: 'FP32',
          shape: [rows.length],
          values: Float32Array.from(rows),
        },
        { name: 'OPTION_COUNT', datatype: 'UINT32', shape: [answers.length], values: counts },
      ];
    },
  };
}

function problemOf(parsed: readonly string[] | string): string | null {
  return typeof parsed === 'string' ? parsed : null;
}

/** @returns the options, or the problem */
function parseOptions(json: string): readonly string[] | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return 'expected a JSON array of options, such as ["yes", "no"]';
  }
  if (!Array.isArray(value)) return 'expected a JSON array of options';
  if (value.length === 0 || value.length > MAX_OPTIONS) {
    return `expected 1 to ${MAX_OPTIONS} options, found ${value.length}`;
  }
  const wrong = value.findIndex((option) => typeof option !== 'string');
  return wrong < 0 ? (value as string[]) : `[${wrong}]: expected a text`;
}
