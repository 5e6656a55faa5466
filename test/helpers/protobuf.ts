/** A message of protocol buffers: its fields by number, each with all of its values. */
export type Message = ReadonlyMap<number, readonly Value[]>;
/** Bytes (also of strings and messages), or a number: varint, fixed64, fixed32. */
export type Value = Buffer | bigint;

/** https://protobuf.dev/programming-guides/encoding/ */
export function decode(bytes: Buffer): Message {
  const fields = new Map<number, Value[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the message ends within a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const read = (wireType: number): Value => {
    if (wireType === 0) return varint();
    if (wireType === 1) return take(8).readBigUInt64LE();
    if (wireType === 2) return take(Number(varint()));
    if (wireType === 5) return BigInt(take(4).readUInt32LE());
    throw new Error(`wire type ${wireType}`);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), read(tag & 7)]);
  }
  return fields;
}

export function messages(message: Message, field: number): readonly Message[] {
  return (message.get(field) ?? []).map((value) => decode(value as Buffer));
}

export function text(message: Message, field: number, encoding: BufferEncoding = 'utf8'): string {
  return (message.get(field)?.[0] as Buffer | undefined)?.toString(encoding) ?? '';
}

export function number(message: Message, field: number): bigint {
  return (message.get(field)?.[0] as bigint | undefined) ?? 0n;
}
