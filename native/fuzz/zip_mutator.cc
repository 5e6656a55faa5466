// libFuzzer mutator for archives: changes an entry and keeps the archive valid.
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
  // The first byte of a checkpoint input selects the format.
  const size_t start = std::min(file.find("PK\x03\x04"), size);
  auto entries = start <= 1 ? fuzz::read_zip(file.substr(start)) : std::nullopt;
  // Sometimes mutates the archive itself, and all other files.
  if (!entries || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  fuzz::mutate(*entries, random);
  const std::string changed = fuzz::write_zip(*entries);
  if (start + changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(changed, data + start);
  return start + changed.size();
}
