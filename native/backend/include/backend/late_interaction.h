#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace backend {

/// How texts are read by models of late interaction (ColBERT), which compare a query's tokens with
/// those of documents.
struct LateInteraction {
  size_t filled_length = 0;      ///< tokens that queries are filled up to, where they ask for it
  std::string filling_token;     ///< empty: the mask token, else the one that ends a text
  bool filling_is_seen = false;  ///< by the other tokens
  std::vector<std::string> skipped;   ///< tokens without a row, where a text asks for it
  std::vector<std::string> prefixes;  ///< of texts, which are tokens though text is normalized
};

}  // namespace backend
