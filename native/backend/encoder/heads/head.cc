#include "encoder/heads/head.h"

#include "text/colbert.h"

namespace backend::heads {

std::vector<scheduler::Output> Head::outputs(const at::Tensor& hidden,
                                             const nn::PackedBatch& packed, Batch sequences) const {
  std::vector<scheduler::Output> outputs = packed.outputs((*this)(hidden, packed));
  for (size_t i = 0; i < outputs.size(); ++i) drop_rows(sequences[i]->skiplist_rows, outputs[i]);
  return outputs;
}

}  // namespace backend::heads
