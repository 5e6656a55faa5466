/** JSON of what a column can hold; integers of 64 bits keep their digits. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'object' && value !== null) {
    if (value instanceof Date) return JSON.stringify(value);
    if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      return `[${Array.from(value as ArrayLike<unknown>, toJson).join(',')}]`;
    }
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** As a cell of a table, or in a column of strings: a string as it is, all else as JSON. */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  return value instanceof Date ? value.toISOString() : toJson(value);
}
