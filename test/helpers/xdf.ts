/** Stream header of XDF. */
export interface XdfStream {
  readonly id: number;
  readonly name?: string;
  /** Sampling rate in Hz; 0 for events. */
  readonly rate: number;
  readonly format: 'double64' | 'string';
  readonly channels: number;
  /** XML within <desc>. */
  readonly desc?: string;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

export function xdfChunk(tag: number, ...content: readonly Buffer[]): Buffer {
  const all = Buffer.concat(content);
  return Buffer.concat([Buffer.from([4]), uint32(all.length + 2), Buffer.from([tag, 0]), all]);
}

export function xdfHeader({ id, name, rate, format, channels, desc }: XdfStream): Buffer {
  const xml =
    `<?xml version="1.0"?><info><name>${name ?? `stream ${id}`}</name>` +
    `<channel_count>${channels}</channel_count><nominal_srate>${rate}</nominal_srate>` +
    `<channel_format>${format}</channel_format><desc>${desc ?? ''}</desc></info>`;
  return xdfChunk(2, uint32(id), Buffer.from(xml));
}

/** Chunk of samples, each with a time stamp in seconds. */
export function xdfSamples(
  id: number,
  samples: readonly (readonly [stamp: number, ...values: (number | string)[]])[],
): Buffer {
  const content = samples.flatMap(([stamp, ...values]) => [
    Buffer.from([8]),
    double(stamp),
    ...values.map((value) => {
      if (typeof value === 'number') return double(value);
      const text = Buffer.from(value);
      return Buffer.concat([Buffer.from([1, text.length]), text]);
    }),
  ]);
  return xdfChunk(3, uint32(id), Buffer.from([4]), uint32(samples.length), ...content);
}

export function xdfOffset(id: number, time: number, value: number): Buffer {
  return xdfChunk(4, uint32(id), double(time), double(value));
}

export function xdfFooter(id: number, xml: string): Buffer {
  return xdfChunk(6, uint32(id), Buffer.from(xml));
}

export function xdfFile(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from('XDF:'), ...chunks]);
}
