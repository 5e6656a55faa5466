// Types of the used part of edfjs 0.6, which has no types.
declare module 'edfjs' {
  interface EdfChannel {
    readonly label: string;
    readonly physical_dimension: string;
    readonly physical_minimum: number;
    readonly physical_maximum: number;
    readonly digital_minimum: number;
    readonly digital_maximum: number;
    readonly num_samples_per_record: number;
    /** Hz; undefined for annotations. */
    readonly sampling_rate: number;
    /** Physical values; digital values for annotations. */
    readonly blob: Float32Array | Int16Array;
  }

  export class EDF {
    num_records: number;
    readonly num_channels: number;
    readonly num_header_bytes: number;
    /** Seconds. */
    readonly record_duration: number;
    readonly type: string;
    readonly channels: readonly EdfChannel[];
    read_header_from_string(header: string): void;
    read_channel_header_from_string(header: string): void;
    /** @param buffer must end with the last record */
    read_blob_from_buffer(buffer: ArrayBuffer): void;
  }
}
