#include "exported/signature.h"

#include "exported/scalar_types.h"
#include "program/signature.h"

namespace backend {
namespace {

GraphInput graph_input_of(const hf::GraphInput& read) {
  switch (read.kind) {
    case hf::InputKind::Tensor:
      return {
          .kind = GraphInput::Kind::kTensor, .tensor = std::string(read.tensor), .constant = {}};
    case hf::InputKind::User:
      return {.kind = GraphInput::Kind::kUser, .tensor = {}, .constant = {}};
    case hf::InputKind::Constant:
      break;
  }
  return {
      .kind = GraphInput::Kind::kConstant, .tensor = {}, .constant = argument_of(read.constant)};
}

UserInput user_input_of(const hf::UserInput& read) {
  UserInput user{.input = {.name = std::string(read.name),
                           .type = scalar_type_of(read.scalar_type),
                           .sizes = {}},
                 .symbols = {}};
  std::vector<Extent>& extents = user.input.sizes.emplace();
  for (const hf::Size& size : read.sizes) {
    const Extent extent{.least = size.least, .most = size.most};
    extents.push_back(size.symbol.empty() ? extent : as_meant(extent));
    user.symbols.emplace_back(size.symbol);
  }
  return user;
}

}  // namespace

Signature signature_of(const hf::ExportedProgram& read) {
  Signature signature;
  for (const auto& input : read.inputs) signature.inputs.push_back(graph_input_of(input));
  for (const auto& user : read.user_inputs) signature.user_inputs.push_back(user_input_of(user));
  for (const auto& [index, name] : read.outputs) {
    signature.outputs.push_back({.index = index, .name = std::string(name)});
  }
  return signature;
}

}  // namespace backend
