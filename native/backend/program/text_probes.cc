#include "program/text_probes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

namespace backend {
namespace {

/// `length` tokens of a text, from its start and its end, the inner ones in another order.
engine::Sequence cut(const engine::Sequence& text, size_t length, size_t turn) {
  const auto head = static_cast<std::ptrdiff_t>(length / 2);
  const auto tail = static_cast<std::ptrdiff_t>(length) - head;
  const auto ends = [&](const std::vector<int64_t>& all) {
    std::vector<int64_t> some(all.begin(), all.begin() + head);
    some.insert(some.end(), all.end() - tail, all.end());
    return some;
  };
  engine::Sequence sequence{.input_ids = ends(text.input_ids),
                            .token_type_ids = ends(text.token_type_ids),
                            .samples = {}};
  if (length > 2) {
    std::rotate(sequence.input_ids.begin() + 1,
                sequence.input_ids.begin() + 1 + static_cast<std::ptrdiff_t>(turn % (length - 2)),
                sequence.input_ids.end() - 1);
  }
  return sequence;
}

}  // namespace

std::vector<engine::Sequence> probes(
    const std::function<engine::Sequence(engine::Text)>& tokenize) {
  constexpr size_t kLongest = 512;
  std::string words;
  for (size_t i = 0; i < kLongest; ++i) words += "one good film and a bad 7, ";
  std::vector<engine::Sequence> probes;
  const engine::Sequence longest = tokenize(engine::Text{.text = words});
  const engine::Sequence empty = tokenize(engine::Text{});
  const size_t specials = empty.input_ids.size();
  const size_t most = std::min(longest.input_ids.size(), kLongest);
  for (const size_t length :
       std::set<size_t>{std::min(specials + 1, most), std::min(specials + 4, most),
                        std::min(specials + 9, most), most}) {
    for (size_t turn = 0; turn < 3; ++turn) probes.push_back(cut(longest, length, turn));
  }
  return probes;
}

}  // namespace backend
