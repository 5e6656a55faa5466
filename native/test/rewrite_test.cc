// Rewriting (native/backend/programs/rewrite) of TorchScript graphs.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <memory>
#include <string>
#include <vector>

#include "programs/torchscript/frozen_view.h"

namespace backend {
namespace {

using torch::jit::NamedValue;
using torch::jit::Value;

class Rewriting : public testing::Test {
 protected:
  Value* call(const char* name, const std::vector<NamedValue>& arguments,
              const std::vector<NamedValue>& by_name = {}) {
    return graph_->insert(c10::Symbol::fromQualString(name), arguments, by_name);
  }

  Value* normalized(Value* x, int64_t channels) {
    return call("aten::batch_norm",
                {x, at::rand({channels}), at::rand({channels}), at::rand({channels}),
                 at::rand({channels}) + 0.5, false, 0.1, 1e-5, true});
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const auto* node : graph_->nodes()) {
      if (node->kind() != c10::prim::Constant && node->kind() != c10::prim::ListConstruct) {
        kinds.emplace_back(node->kind().toUnqualString());
      }
    }
    return kinds;
  }

  at::Tensor answer(const at::Tensor& x) const {
    torch::jit::Stack stack{x};
    torch::jit::InterpreterState(torch::jit::Code(graph_, "")).run(stack);
    return stack.front().toTensor();
  }

  /// Rewrites the graph to these operators; its output is unchanged.
  void expect(Value* output, const at::Tensor& x, const std::vector<std::string>& expected,
              bool fuses_gelu = true) {
    graph_->registerOutput(output);
    const at::Tensor before = answer(x);
    PackedLinears layers(Dtype::kFloat32);
    rewrite_frozen(*graph_, layers, fuses_gelu);
    EXPECT_EQ(kinds(), expected);
    EXPECT_TRUE(at::allclose(answer(x), before, 1e-4, 1e-5));
  }

  std::shared_ptr<torch::jit::Graph> graph_ = std::make_shared<torch::jit::Graph>();
  Value* x_ = graph_->addInput();
};

TEST_F(Rewriting, MakesOneLayerOfConvolutionNormalizationAndRelu) {
  Value* const filtered = call("aten::conv1d", {x_, at::rand({5, 3, 4}) - 0.5, at::rand({5})});
  expect(call("aten::relu", {normalized(filtered, 5)}), at::rand({2, 3, 20}), {"layer"});
}

TEST_F(Rewriting, MakesOneLayerOfConvolutionOverTwoDimensionsNormalizationsAndRelu) {
  Value* const filtered = call("aten::conv2d", {x_, at::rand({5, 3, 2, 2}) - 0.5});
  expect(call("aten::relu", {normalized(normalized(filtered, 5), 5)}), at::rand({2, 3, 8, 8}),
         {"layer"});
}

TEST_F(Rewriting, PutsNormalizationsIntoTheWeightsOfConvolutionsOverThreeDimensions) {
  Value* const filtered = call("aten::conv3d", {x_, at::rand({5, 3, 2, 2, 2}) - 0.5});
  expect(normalized(normalized(filtered, 5), 5), at::rand({2, 3, 8, 8, 8}), {"conv3d"});
}

TEST_F(Rewriting, LeavesWhatReadsAResultThatOthersReadToo) {
  Value* const filtered = call("aten::conv1d", {x_, at::rand({5, 3, 4}) - 0.5, at::rand({5})});
  Value* const both = call("aten::add", {call("aten::relu", {filtered}), filtered});
  expect(both, at::rand({2, 3, 20}), {"layer", "relu", "add"});
}

TEST_F(Rewriting, LeavesNormalizationsByTheBatch) {
  Value* const filtered = call("aten::conv1d", {x_, at::rand({5, 3, 4}) - 0.5, at::rand({5})});
  Value* const by_batch =
      call("aten::batch_norm", {filtered, at::rand({5}), at::rand({5}), torch::jit::IValue(),
                                torch::jit::IValue(), true, 0.1, 1e-5, true});
  expect(by_batch, at::rand({2, 3, 20}), {"layer", "batch_norm"});
}

TEST_F(Rewriting, MakesOneLayerOfLinearAndGelu) {
  Value* const linear = call("aten::linear", {x_, at::rand({7, 9}) - 0.5, at::rand({7})});
  expect(call("aten::gelu", {linear}), at::rand({4, 9}), {"layer"});
}

TEST_F(Rewriting, LeavesGeluWhereItIsToBeLibTorchs) {
  Value* const linear = call("aten::linear", {x_, at::rand({7, 9}) - 0.5, at::rand({7})});
  expect(call("aten::gelu", {linear}), at::rand({4, 9}), {"layer", "gelu"}, false);
}

TEST_F(Rewriting, LeavesGeluThatIsApproximated) {
  Value* const linear = call("aten::linear", {x_, at::rand({7, 9}) - 0.5, at::rand({7})});
  expect(call("aten::gelu", {linear}, {NamedValue("approximate", std::string("tanh"))}),
         at::rand({4, 9}), {"layer", "gelu"});
}

TEST_F(Rewriting, LeavesProductsOfWhatIsNotConstant) {
  expect(call("aten::mm", {x_, x_}), at::rand({4, 4}), {"mm"});
}

}  // namespace
}  // namespace backend
