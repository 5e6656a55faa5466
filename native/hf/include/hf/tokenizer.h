// Hugging Face tokenizers for one directory written by save_pretrained.
#ifndef HF_TOKENIZER_H_
#define HF_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hf/error.h"
#include "hf/hf.h"

namespace hf {

// Both arrays have the same length, special tokens included.
struct Encoding {
  std::vector<int64_t> input_ids;
  std::vector<int64_t> token_type_ids;
  bool truncated = false;
};

// As in transformers.
enum class Truncation : int32_t {
  kLongestFirst = HF_LONGEST_FIRST,
  kOnlyFirst = HF_ONLY_FIRST,
  kOnlySecond = HF_ONLY_SECOND,
  kDoNotTruncate = HF_DO_NOT_TRUNCATE,
};

// From which end tokens are taken away.
enum class TruncationSide : int32_t {
  kOfTokenizer = HF_SIDE_OF_TOKENIZER,
  kRight = HF_RIGHT,
  kLeft = HF_LEFT,
};

// UTF-8.
struct TextInput {
  std::string_view text;
  std::string_view pair = {};  // empty: there is one text
  Truncation truncation = Truncation::kLongestFirst;
  TruncationSide side = TruncationSide::kOfTokenizer;
};

// Which tokenizer is built when no file of the directory names a tokenizer class.
enum class TokenizerFamily : int32_t {
  kBert = HF_BERT,
  kRoberta = HF_ROBERTA,
  kMpnet = HF_MPNET,
  kAlbert = HF_ALBERT,
  kXlmRoberta = HF_XLM_ROBERTA,
  kCamembert = HF_CAMEMBERT,
  kDebertaV2 = HF_DEBERTA_V2,
  kTokenizerJson = HF_TOKENIZER_JSON,
  kUnknown = HF_UNKNOWN,
};

// Movable, not copyable. Const members may be called from any number of threads.
class Tokenizer {
 public:
  // position_limit: tokens the model's position table holds, special tokens included; the smaller
  // of it and tokenizer_config.json's model_max_length binds; SIZE_MAX where it is known only
  // later, see limit(). Throws hf::Error.
  static Tokenizer open(const std::string& directory, TokenizerFamily family,
                        size_t position_limit) {
    hf_tokenizer* handle = nullptr;
    char* error = nullptr;
    const hf_status status =
        hf_tokenizer_open(directory.data(), directory.size(), static_cast<int32_t>(family),
                          position_limit, &handle, &error);
    internal::Check(status, error);
    return Tokenizer(handle);
  }

  // As if opened with position_limit, where that is less. Throws hf::Error.
  void limit(size_t position_limit) {
    char* error = nullptr;
    const hf_status status = hf_tokenizer_limit(handle_.get(), position_limit, &error);
    internal::Check(status, error);
  }

  // rows: of the model's table of words. Throws hf::Error, naming the token, where one has no row.
  void require_ids_below(size_t rows) const {
    char* error = nullptr;
    const hf_status status = hf_tokenizer_require_ids_below(handle_.get(), rows, &error);
    internal::Check(status, error);
  }

  // Special tokens added, cut to max_length() keeping them. Throws hf::Error; hf::TooLong where the
  // input may not be cut so.
  Encoding encode(const TextInput& input) const {
    const hf_input given{.text = input.text.data(),
                         .text_length = input.text.size(),
                         .pair = input.pair.data(),
                         .pair_length = input.pair.size(),
                         .truncation = static_cast<int32_t>(input.truncation),
                         .truncation_side = static_cast<int32_t>(input.side)};
    hf_encoding raw{};
    char* error = nullptr;
    const hf_status status = hf_tokenizer_encode(handle_.get(), &given, &raw, &error);
    internal::Check(status, error);
    const std::unique_ptr<hf_encoding, FreeEncoding> owner(&raw);
    return Encoding{{raw.input_ids, raw.input_ids + raw.length},
                    {raw.token_type_ids, raw.token_type_ids + raw.length},
                    raw.truncated};
  }

  size_t max_length() const { return hf_tokenizer_max_length(handle_.get()); }

  // Of the token that its settings name for padding.
  std::optional<int64_t> padding_id() const {
    const int64_t id = hf_tokenizer_padding_id(handle_.get());
    return id < 0 ? std::nullopt : std::optional(id);
  }

 private:
  struct FreeTokenizer {
    void operator()(hf_tokenizer* handle) const { hf_tokenizer_free(handle); }
  };
  struct FreeEncoding {
    void operator()(hf_encoding* encoding) const { hf_encoding_free(encoding); }
  };

  explicit Tokenizer(hf_tokenizer* handle) : handle_(handle) {}

  std::unique_ptr<hf_tokenizer, FreeTokenizer> handle_;
};

inline std::string tokenizers_version() { return hf_tokenizers_version(); }

}  // namespace hf

#endif  // HF_TOKENIZER_H_
