#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace backend {

/// Token names of a text model. Thread-safe.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  /// Name of a token; empty for an unknown id.
  virtual std::string token(uint32_t id) const = 0;

  /// Decodes tokens to text. Throws scheduler::BackendError.
  virtual std::string join(const std::vector<std::string>& tokens) const = 0;

  /// Decodes ids to text. Unknown ids are ignored. Throws scheduler::BackendError.
  virtual std::string decode(const std::vector<uint32_t>& ids, bool skip_special_tokens) const = 0;

  /// Index of the first id without a token; unset if all ids have a token.
  virtual std::optional<size_t> find_unknown_id(const std::vector<uint32_t>& ids) const = 0;

  /// True if tokens that continue a word are marked (WordPiece "##").
  virtual bool marks_continued_words() const = 0;

  /// Id of the unknown token; unset if the vocabulary has none.
  virtual std::optional<uint32_t> unknown_id() const = 0;
};

}  // namespace backend
