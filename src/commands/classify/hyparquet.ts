/**
 * Types of the Parquet libraries. They are ES modules, which this one, a CommonJS module, imports
 * when it needs them.
 */
export type ReaderLibrary = typeof import('hyparquet', { with: { 'resolution-mode': 'import' }});
export type FileMetaData = import('hyparquet', { with: {
  'resolution-mode': 'import',
}}).FileMetaData;
export type RowGroup = import('hyparquet', { with: { 'resolution-mode': 'import' }}).RowGroup;
export type SchemaElement = import('hyparquet', { with: {
  'resolution-mode': 'import',
}}).SchemaElement;
export type CompressionCodec = import('hyparquet', { with: {
  'resolution-mode': 'import',
}}).CompressionCodec;
export type ByteWriter = import('hyparquet-writer', { with: {
  'resolution-mode': 'import',
}}).ByteWriter;
export type ParquetWriter = import('hyparquet-writer', { with: {
  'resolution-mode': 'import',
}}).ParquetWriter;
