// libFuzzer's mutator for targets that read archives: one entry changes, and the archive stays
// whole.
#include <algorithm>
#include <random>

#include "zip.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace fuzz {
namespace {

void mutate_text(std::string& text, size_t room) {
  const size_t size = text.size();
  text.resize(size + room);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
}

void mutate(std::vector<ZipEntry>& entries, std::minstd_rand& random) {
  const size_t chosen = random() % entries.size();
  switch (random() % 10) {
    case 0:
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    case 1:
      entries.push_back(entries[chosen]);
      break;
    case 2:
      mutate_text(entries[chosen].name, 16);
      break;
    default:
      mutate_text(entries[chosen].content, 256);
  }
}

}  // namespace
}  // namespace fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  // The checkpoint's first byte says what follows.
  const size_t start = std::min(file.find("PK\x03\x04"), size);
  auto entries = start <= 1 ? fuzz::read_zip(file.substr(start)) : std::nullopt;
  // Damage to the archive itself, too, and every other kind of file.
  if (!entries || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  fuzz::mutate(*entries, random);
  const std::string changed = fuzz::write_zip(*entries);
  if (start + changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(changed, data + start);
  return start + changed.size();
}
