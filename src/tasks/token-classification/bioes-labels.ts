/** Outputs of one class of entities. */
export interface BioesClass {
  readonly name: string;
  /** Output of the first token of an entity of several tokens (`B-`). */
  readonly begin: number;
  readonly inside: number;
  readonly end: number;
  /** Output of an entity of one token (`S-`). */
  readonly single: number;
}

/** Labels of a token classifier in the BIOES scheme, as indexes of its outputs. */
export interface BioesLabels {
  readonly outside: number;
  readonly classes: readonly BioesClass[];
}

const PREFIXES = ['B-', 'I-', 'E-', 'S-'] as const;

/** Finds `O` and the labels `B-`, `I-`, `E-` and `S-` of each class; null for other label sets. */
export function bioesLabels(labels: readonly string[]): BioesLabels | null {
  const outputs = new Map(labels.map((label, output) => [label, output]));
  const outside = outputs.get('O');
  if (outside === undefined || outputs.size !== labels.length) return null;
  const names = labels.filter((label) => label.startsWith('B-')).map((label) => label.slice(2));
  if (labels.length !== 1 + PREFIXES.length * names.length) return null;
  const classes = names.map((name): BioesClass | null => {
    const found = PREFIXES.map((prefix) => outputs.get(prefix + name));
    if (found.includes(undefined)) return null;
    const [begin, inside, end, single] = found as [number, number, number, number];
    return { name, begin, inside, end, single };
  });
  return classes.includes(null) ? null : { outside, classes: classes as readonly BioesClass[] };
}
