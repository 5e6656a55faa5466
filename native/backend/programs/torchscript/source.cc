#include "programs/torchscript/source.h"

#include <torch/csrc/jit/frontend/lexer.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace backend {
namespace {

using torch::jit::Token;

/// Code of torch.jit.save nests tens of brackets, operators and blocks.
constexpr size_t kMaxNesting = 400;
constexpr size_t kMaxElifs = 400;
/// Compiling a function compiles its callees first.
constexpr size_t kMaxDefinitions = 20'000;

bool opens(int kind) { return kind == '(' || kind == '[' || kind == '{'; }
bool closes(int kind) { return kind == ')' || kind == ']' || kind == '}'; }

bool is_operand(int kind) {
  using namespace torch::jit;
  return kind == TK_IDENT || kind == TK_NUMBER || kind == TK_STRINGLITERAL || kind == TK_TRUE ||
         kind == TK_FALSE || kind == TK_NONE || kind == ':';
}

/// Tokens allowed outside of function bodies: literals, types and declarations.
bool declares(int kind) {
  using namespace torch::jit;
  switch (kind) {
    case TK_CLASS_DEF:
    case TK_DEF:
    case TK_IMPORT:
    case TK_ARROW:
    case TK_NEWLINE:
    case TK_INDENT:
    case TK_DEDENT:
    case TK_EOF:
    case TK_DOTS:
    case TK_PASS:
    case TK_NONE_TYPE:
    case ',':
    case '=':
    case '.':
    case '-':
      return true;
    default:
      return is_operand(kind) || opens(kind) || closes(kind);
  }
}

/// Calls in literals: annotate(List[int], []), float("inf"), torch.device("cpu").
bool writes_literal(std::string_view function) {
  return function == "annotate" || function == "float" || function == "device";
}

class Inspection {
 public:
  explicit Inspection(const std::string& record) : record_(record) {}

  void visit(const Token& token) {
    using namespace torch::jit;
    const bool outside = body_indent_ == 0;
    if (token.kind == TK_IDENT) visit_name(token);
    if (outside) {
      if (!declares(token.kind)) reject(token, "an expression that would run while loading");
      if (token.kind == '(') visit_call(token);
      if (token.kind == TK_DEF) in_signature_ = true;
      const bool ends_signature = in_signature_ && token.kind == ':' && levels_.size() == 1;
      if (ends_signature) before_body_ = true;
    }
    visit_blocks(token);
    visit_nesting(token);
    before_ = previous_;
    previous_ = token.kind;
    if (token.kind == TK_IDENT) name_ = token.text();
  }

 private:
  void visit_name(const Token& token) {
    const auto name = token.text_view();
    if (name == "__setstate__")
      reject(token, "a __setstate__ method, which would run while loading");
    // __torch__.torch.classes.…
    if (name == "classes" && previous_ == '.' && name_ == "torch") {
      reject(token, "a C++ class (torch.classes)");
    }
  }

  /// An opening parenthesis outside of function bodies.
  void visit_call(const Token& token) {
    using namespace torch::jit;
    const bool is_declared = before_ == TK_DEF || before_ == TK_CLASS_DEF;
    const bool calls_name = previous_ == TK_IDENT && !is_declared && !writes_literal(name_);
    if (calls_name || closes(previous_)) {
      reject(token, "an expression that would run while loading");
    }
  }

  void visit_blocks(const Token& token) {
    using namespace torch::jit;
    if (token.kind == TK_INDENT) {
      ++indent_;
      if (before_body_) body_indent_ = indent_;
      in_signature_ = before_body_ = false;
    } else if (token.kind == TK_DEDENT && indent_ > 0) {
      --indent_;
      if (indent_ < body_indent_) body_indent_ = 0;
    }
    elifs_ += token.kind == TK_ELIF ? 1 : 0;
    definitions_ += token.kind == TK_DEF || token.kind == TK_CLASS_DEF ? 1 : 0;
    if (definitions_ > kMaxDefinitions) reject(token, "too many functions");
  }

  /// Nesting of brackets, operators since the last comma, and blocks: the parser recurses for each.
  void visit_nesting(const Token& token) {
    using namespace torch::jit;
    if (opens(token.kind)) {
      ++levels_.back();
      levels_.push_back(0);
    } else if (closes(token.kind)) {
      if (levels_.size() > 1) levels_.pop_back();
    } else if (token.kind == TK_NEWLINE || token.kind == TK_INDENT || token.kind == TK_DEDENT) {
      levels_.assign(1, 0);
    } else if (token.kind == ',') {
      levels_.back() = 0;
    } else if (!is_operand(token.kind)) {
      ++levels_.back();
    }
    const size_t nesting = std::accumulate(levels_.begin(), levels_.end(), indent_);
    if (nesting > kMaxNesting || elifs_ > kMaxElifs) {
      reject(token, "code that is nested too deeply");
    }
  }

  [[noreturn]] void reject(const Token& token, const std::string& what) const {
    const auto place = token.range.file_line_col();
    const std::string line = place ? ":" + std::to_string(std::get<1>(*place)) : "";
    throw common::LoadError(record_ + line + ": contains " + what + ", which is not allowed");
  }

  const std::string& record_;
  int before_ = 0;    ///< kind of the token before the previous one
  int previous_ = 0;  ///< kind of the previous token
  std::string name_;  ///< last identifier
  bool in_signature_ = false;
  bool before_body_ = false;
  size_t indent_ = 0;
  size_t body_indent_ = 0;  ///< 0: outside of functions
  size_t elifs_ = 0;
  size_t definitions_ = 0;
  std::vector<size_t> levels_{0};
};

}  // namespace

void validate_source(const std::string& text, const std::string& record) {
  torch::jit::Lexer lexer(std::make_shared<torch::jit::Source>(text, record, 1));
  Inspection inspection(record);
  while (true) {
    const Token token = lexer.next();
    inspection.visit(token);
    if (token.kind == torch::jit::TK_EOF) break;
  }
}

}  // namespace backend
