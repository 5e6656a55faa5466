// Attention of packed sequences in every number format, including those that are slow on this
// processor.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "encoder/nn/attention.h"
#include "packed/parallel_for.h"
#include "scheduler/thread_pool.h"

namespace {

using backend::nn::OutputTokens;
using backend::nn::PackedBatch;
using backend::nn::Projections;

constexpr int64_t kHeads = 3;
constexpr int64_t kHeadSize = 20;
constexpr int64_t kHidden = kHeads * kHeadSize;

/// Sequences of these lengths, in this order.
struct Texts {
  Texts(std::initializer_list<size_t> lengths) {
    for (const size_t length : lengths) {
      backend::Sequence text;
      text.input_ids.resize(length);
      text.token_type_ids.resize(length);
      texts.push_back(text);
    }
    for (const backend::Sequence& text : texts) pointers.push_back(&text);
  }

  PackedBatch batch() const { return PackedBatch(pointers); }

  std::vector<backend::Sequence> texts;
  std::vector<const backend::Sequence*> pointers;
};

struct Limit {
  const char* name;
  kernels::Format format;
  double limit;  ///< of an error
};

constexpr Limit kFormats[] = {{"float32", kernels::Format::kFloat32, 2e-6},
                              {"bfloat16", kernels::Format::kBFloat16, 3e-2},
                              {"int8", kernels::Format::kInt8, 1e-1}};

/// Projections from [tokens, 3 × hidden]; kClsOnly: of the first tokens of `batch`.
Projections projections(const at::Tensor& states, const PackedBatch& batch, OutputTokens outputs,
                        kernels::Format format) {
  return {.query = backend::nn::gather_output_rows(states.narrow(1, 0, kHidden), batch, outputs),
          .key_value = states.narrow(1, kHidden, 2 * kHidden),
          .outputs = outputs,
          .format = format};
}

/// Reference: sequence by sequence, in double precision.
at::Tensor expected(const at::Tensor& states, const PackedBatch& batch) {
  at::Tensor all = at::randn({states.size(0), kHidden}, at::kDouble);
  for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
    const int64_t first = batch.cu_seqlens[i], count = batch.cu_seqlens[i + 1] - first;
    const at::Tensor text = states.narrow(0, first, count).to(at::kDouble);
    const auto heads = [&](int64_t part) {
      return text.narrow(1, part * kHidden, kHidden).view({count, kHeads, -1}).transpose(0, 1);
    };
    const at::Tensor scores =
        at::matmul(heads(0), heads(1).transpose(1, 2)) / std::sqrt(double{kHeadSize});
    const at::Tensor result = at::matmul(at::softmax(scores, -1), heads(2));
    all.narrow(0, first, count).copy_(result.transpose(0, 1).reshape({count, kHidden}));
  }
  return all;
}

TEST(SelfAttention, IsAsExactAsItsFormat) {
  const c10::InferenceMode inference_mode;
  at::manual_seed(1);
  const Texts texts{40, 5, 1, 5, 33};
  const PackedBatch batch = texts.batch();
  const at::Tensor states = at::randn({batch.tokens(), 3 * kHidden});
  const at::Tensor all = expected(states, batch);
  for (const OutputTokens outputs : {OutputTokens::kAllTokens, OutputTokens::kClsOnly}) {
    const at::Tensor wanted = backend::nn::gather_output_rows(all, batch, outputs);
    for (const auto& [name, format, limit] : kFormats) {
      const at::Tensor got =
          self_attention(projections(states, batch, outputs, format), batch, kHeads);
      const at::Tensor error = (got.to(at::kDouble) - wanted).abs().max();
      EXPECT_LT(error.item<double>(), limit) << name;
    }
  }
}

TEST(SelfAttention, OfATextHasTheSameBitsInAnyBatch) {
  const c10::InferenceMode inference_mode;
  at::manual_seed(2);
  const Texts alone{90}, together{90, 7, 200, 64};
  const PackedBatch one = alone.batch(), many = together.batch();
  const at::Tensor others = at::randn({many.tokens(), 3 * kHidden});
  // The packed order differs from the order of the texts.
  size_t place = 0;
  while (many.order[place] != 0) ++place;
  const int64_t first = many.cu_seqlens[place];
  scheduler::ThreadPool pool(1);
  for (const auto& [name, format, limit] : kFormats) {
    const auto attend = [&, format = format](const at::Tensor& states, const PackedBatch& batch) {
      return self_attention(projections(states, batch, OutputTokens::kAllTokens, format), batch,
                            kHeads);
    };
    const at::Tensor wanted = attend(others.narrow(0, first, 90).contiguous(), one);
    EXPECT_TRUE(attend(others, many).narrow(0, first, 90).equal(wanted)) << name;
    const scheduler::AssignedPool lent(&pool);
    const backend::ScopedThreadPool scoped_pool(lent);
    EXPECT_TRUE(attend(others, many).narrow(0, first, 90).equal(wanted)) << name << ", by a pool";
  }
}

}  // namespace
