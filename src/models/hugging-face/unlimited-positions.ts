import type { ModelConfig } from './directory';

/**
 * DeBERTa without a table of positions reads texts beyond max_position_embeddings, which then only limits the distance
 * of relative positions.
 *
 * @param maxLength number of positions that such a model gets, if it has fewer
 */
export function withUnlimitedPositions<Encoder extends ModelConfig>(
  encoder: Encoder,
  maxLength: number,
): Encoder {
  const { max_position_embeddings: positions, max_relative_positions: distance } = encoder;
  const isUnlimited =
    encoder.model_type === 'deberta-v2' &&
    encoder.position_biased_input === false &&
    encoder.relative_attention === true &&
    typeof positions === 'number' &&
    positions >= 1 &&
    positions < maxLength;
  if (!isUnlimited) return encoder;
  return {
    ...encoder,
    max_position_embeddings: maxLength,
    max_relative_positions: typeof distance === 'number' && distance >= 1 ? distance : positions,
  };
}
