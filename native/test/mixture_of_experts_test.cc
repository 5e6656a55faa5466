// Mixture of experts, compared with LibTorch's operators in double precision.
#include "encoder/nn/mixture_of_experts.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "checkpoint_fixture.h"
#include "packed/parallel_for.h"
#include "scheduler/thread_pool.h"

namespace backend {
namespace {

constexpr int64_t kHidden = 40, kInner = 24, kTokens = 70;
constexpr nn::ExpertOptions kOptions{.hidden_size = kHidden,
                                     .inner_size = kInner,
                                     .experts = 12,
                                     .experts_per_token = 3,
                                     .alpha = 1.702F,
                                     .limit = 1.5F};

/// Limits of the largest error.
constexpr std::pair<Dtype, double> kLimits[] = {
    {Dtype::kFloat32, 1e-5}, {Dtype::kBFloat16, 0.05}, {Dtype::kInt8, 0.3}};

using Tensors = std::map<std::string, at::Tensor>;

Tensors random_tensors() {
  const int64_t experts = kOptions.experts;
  Tensors tensors;
  tensors["router.weight"] = at::randn({experts, kHidden});
  tensors["router.bias"] = at::randn({experts});
  tensors["experts.gate_up_proj"] = at::randn({experts, kHidden, 2 * kInner}) * 0.3;
  tensors["experts.gate_up_proj_bias"] = at::randn({experts, 2 * kInner});
  tensors["experts.down_proj"] = at::randn({experts, kInner, kHidden}) * 0.3;
  tensors["experts.down_proj_bias"] = at::randn({experts, kHidden});
  return tensors;
}

at::Tensor expected(const Tensors& tensors, const at::Tensor& input) {
  Tensors exact;
  for (const auto& [name, tensor] : tensors) exact[name] = tensor.to(at::kDouble);
  const at::Tensor x = input.to(at::kDouble);
  const at::Tensor logits = at::matmul(x, exact["router.weight"].t()) + exact["router.bias"];
  const auto [highest, chosen] = at::topk(logits, kOptions.experts_per_token);
  const at::Tensor weights = at::softmax(highest, 1);
  at::Tensor sums = at::zeros({x.size(0), kHidden}, x.options());
  for (int64_t token = 0; token < x.size(0); ++token) {
    for (int64_t i = 0; i < kOptions.experts_per_token; ++i) {
      const auto expert = chosen[token][i].item<int64_t>();
      const at::Tensor gate_up = at::matmul(x[token], exact["experts.gate_up_proj"][expert]) +
                                 exact["experts.gate_up_proj_bias"][expert];
      const at::Tensor gate = gate_up.narrow(0, 0, kInner).clamp_max(kOptions.limit);
      const at::Tensor up =
          at::clamp(gate_up.narrow(0, kInner, kInner), -kOptions.limit, kOptions.limit);
      const at::Tensor inner = (up + 1) * gate * at::sigmoid(double{kOptions.alpha} * gate);
      sums[token] += weights[token][i] * (at::matmul(inner, exact["experts.down_proj"][expert]) +
                                          exact["experts.down_proj_bias"][expert]);
    }
  }
  return sums;
}

class MixtureOfExpertsTest : public CheckpointTest {
 protected:
  Weights save(const Tensors& tensors, const ComputeTypes& types = {}) {
    std::string header, data;
    for (const auto& [name, tensor] : tensors) {
      const size_t begin = data.size();
      data.append(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
      std::string shape;
      for (const int64_t size : tensor.sizes()) {
        if (!shape.empty()) shape += ',';
        shape += std::to_string(size);
      }
      header += header.empty() ? "{\"" : ",\"";
      header.append(name).append(R"(":{"dtype":"F32","shape":[)").append(shape);
      header.append(R"(],"data_offsets":[)").append(std::to_string(begin)).append(",");
      header.append(std::to_string(data.size())).append("]}");
    }
    const std::string path = write("model.safetensors", header + "}", data);
    return Weights(std::make_shared<const Checkpoint>(Checkpoint::open({path})), "", types);
  }

  static at::Tensor run(const nn::MixtureOfExperts& experts, const at::Tensor& input) {
    return experts.add_to(at::zeros({input.size(0), kHidden}), input);
  }

  const c10::InferenceMode inference_mode_;
};

TEST_F(MixtureOfExpertsTest, IsAsExactAsItsFormat) {
  at::manual_seed(1);
  const Tensors tensors = random_tensors();
  const at::Tensor input = at::randn({kTokens, kHidden});
  const at::Tensor wanted = expected(tensors, input);
  const at::Tensor before = at::randn({kTokens, kHidden});
  for (const auto& [dtype, limit] : kLimits) {
    const Weights weights = save(tensors, {.linear = dtype});
    const nn::MixtureOfExperts experts(weights, kOptions);
    weights.require_all_used();
    const at::Tensor sum = experts.add_to(before.clone(), input);
    const at::Tensor error = (sum.to(at::kDouble) - before.to(at::kDouble) - wanted).abs().max();
    EXPECT_LT(error.item<double>(), limit) << static_cast<int>(dtype);
  }
}

TEST_F(MixtureOfExpertsTest, TheResultOfATokenHasTheSameBitsInAnyBatch) {
  at::manual_seed(2);
  const Tensors tensors = random_tensors();
  const nn::MixtureOfExperts experts(save(tensors), kOptions);
  const at::Tensor input = at::randn({kTokens, kHidden});
  const at::Tensor together = run(experts, input);
  for (int64_t token = 0; token < kTokens; ++token) {
    EXPECT_TRUE(run(experts, input.narrow(0, token, 1)).equal(together.narrow(0, token, 1)));
  }
  scheduler::ThreadPool pool(2);
  const scheduler::AssignedPool lent(&pool);
  const ScopedThreadPool scoped_pool(lent);
  EXPECT_TRUE(run(experts, input).equal(together));
}

/// The first of equal logits is chosen.
TEST_F(MixtureOfExpertsTest, EqualLogits) {
  at::manual_seed(3);
  Tensors tensors = random_tensors();
  tensors["router.weight"].zero_();
  tensors["router.bias"].fill_(0.5);
  const at::Tensor input = at::randn({3, kHidden});
  const at::Tensor all_equal = run(nn::MixtureOfExperts(save(tensors), kOptions), input);
  tensors["router.bias"].narrow(0, kOptions.experts_per_token, 9).fill_(-50);
  EXPECT_TRUE(run(nn::MixtureOfExperts(save(tensors), kOptions), input).equal(all_equal));
}

TEST_F(MixtureOfExpertsTest, PropagatesNaNToItsToken) {
  at::manual_seed(4);
  const Tensors tensors = random_tensors();
  const nn::MixtureOfExperts experts(save(tensors), kOptions);
  const at::Tensor input = at::randn({3, kHidden});
  const at::Tensor wanted = run(experts, input);
  input[1][7] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor result = run(experts, input);
  EXPECT_TRUE(result[1].isnan().all().item<bool>());
  EXPECT_TRUE(result[0].equal(wanted[0]));
  EXPECT_TRUE(result[2].equal(wanted[2]));
}

TEST_F(MixtureOfExpertsTest, RejectsMoreExpertsPerTokenThanThereAre) {
  const Weights weights = save(random_tensors());
  nn::ExpertOptions options = kOptions;
  options.experts_per_token = 13;
  EXPECT_EQ(
      message_of([&] { const nn::MixtureOfExperts experts(weights, options); }),
      "config.json: num_experts_per_tok: expected at most 12 (num_local_experts), received 13");
}

TEST_F(MixtureOfExpertsTest, NamesATensorOfAnotherShape) {
  Tensors tensors = random_tensors();
  tensors["experts.down_proj"] = at::randn({12, kHidden, kInner});
  const Weights weights = save(tensors);
  EXPECT_EQ(message_of([&] { const nn::MixtureOfExperts experts(weights, kOptions); }),
            "model.safetensors: experts.down_proj: has shape [12, 40, 24], expected [12, 24, 40]");
}

}  // namespace
}  // namespace backend
