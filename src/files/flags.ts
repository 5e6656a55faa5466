import { UsageError } from './file-errors';

/** A flag of a command over files. */
export interface Flag {
  /** What stands behind it in the help; absent: it takes no value. */
  readonly value?: string;
  readonly help: string;
}
export type Flags = Readonly<Record<string, Flag>>;

/** What a command line gives, by the names of flags; of one that takes no value an empty text. */
export type FlagValues = ReadonlyMap<string, string>;

/** @throws UsageError; null: it is not given */
export function enumFlag<Name extends string>(
  values: FlagValues,
  flag: string,
  names: readonly Name[],
): Name | null {
  const value = values.get(flag);
  if (value === undefined) return null;
  const name = names.find((one) => one === value);
  if (!name) throw new UsageError(`--${flag}: expected one of ${names.join(', ')}, not ${value}`);
  return name;
}

/** @throws UsageError; null: it is not given */
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
