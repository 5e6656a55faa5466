import { UsageError } from './file-errors';

/** Command-line flag of a batch command. */
export interface Flag {
  /** Placeholder of the value in the help; undefined if the flag takes no value. */
  readonly value?: string;
  readonly help: string;
}
export type Flags = Readonly<Record<string, Flag>>;

/** Values by flag name; an empty string for flags without a value. */
export type FlagValues = ReadonlyMap<string, string>;

/** Reads a flag with a fixed set of values; null if absent. @throws UsageError */
export function enumFlag<Name extends string>(
  values: FlagValues,
  flag: string,
  names: readonly Name[],
): Name | null {
  const value = values.get(flag);
  if (value === undefined) return null;
  const name = names.find((candidate) => candidate === value);
  if (!name) throw new UsageError(`--${flag}: expected one of ${names.join(', ')}, not ${value}`);
  return name;
}

/** Reads a numeric flag; null if absent. @throws UsageError */
export function numberFlag(
  values: FlagValues,
  flag: string,
  { form, what }: { readonly form: RegExp; readonly what: string },
): number | null {
  const value = values.get(flag);
  if (value === undefined) return null;
  if (!form.test(value)) throw new UsageError(`--${flag}: expected ${what}, not ${value}`);
  return Number(value);
}
