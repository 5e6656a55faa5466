#include "zip.h"

namespace fuzz {
namespace {

constexpr std::string_view kLocal = "PK\x03\x04";
constexpr std::string_view kCentral = "PK\x01\x02";
constexpr std::string_view kEnd = "PK\x05\x06";
constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;

uint32_t number(std::string_view bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  }
  return value;
}

void append(std::string& bytes, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t crc32(std::string_view bytes) {
  uint32_t sum = ~0U;
  for (const char byte : bytes) {
    sum ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1U ^ (0xedb88320U & (0U - (sum & 1U)));
  }
  return ~sum;
}

/// Fields that local header and directory entry share, starting with the version.
void append_facts(std::string& bytes, const ZipEntry& entry) {
  append(bytes, 20, 2);  // version
  append(bytes, 0, 2);   // flags
  append(bytes, 0, 2);   // stored
  append(bytes, 0, 4);   // time
  append(bytes, crc32(entry.content), 4);
  append(bytes, entry.content.size(), 4);
  append(bytes, entry.content.size(), 4);
  append(bytes, entry.name.size(), 2);
  append(bytes, 0, 2);  // extra
}

/// Content of the entry at an offset of the directory.
std::optional<std::string_view> content_of(std::string_view file, size_t central) {
  const size_t size = number(file, central + 20, 4);
  const size_t local = number(file, central + 42, 4);
  if (number(file, central + 10, 2) != 0 || local + kLocalSize > file.size()) return std::nullopt;
  const size_t start =
      local + kLocalSize + number(file, local + 26, 2) + number(file, local + 28, 2);
  if (start > file.size() || size > file.size() - start) return std::nullopt;
  return file.substr(start, size);
}

}  // namespace

std::optional<std::vector<ZipEntry>> read_zip(std::string_view file) {
  const size_t end = file.rfind(kEnd);
  if (!file.starts_with(kLocal) || end == std::string_view::npos || end + kEndSize > file.size()) {
    return std::nullopt;
  }
  std::vector<ZipEntry> entries;
  size_t at = number(file, end + 16, 4);
  while (at < end && file.substr(at).starts_with(kCentral)) {
    if (at + kCentralSize > end) return std::nullopt;
    const size_t name = number(file, at + 28, 2);
    const auto content = content_of(file, at);
    if (!content || at + kCentralSize + name > end) return std::nullopt;
    entries.push_back({std::string(file.substr(at + kCentralSize, name)), std::string(*content)});
    at += kCentralSize + name + number(file, at + 30, 2) + number(file, at + 32, 2);
  }
  if (entries.empty()) return std::nullopt;
  return entries;
}

std::string write_zip(const std::vector<ZipEntry>& entries) {
  std::string file;
  std::string directory;
  for (const auto& entry : entries) {
    const size_t place = file.size();
    file += kLocal;
    append_facts(file, entry);
    (file += entry.name) += entry.content;
    directory += kCentral;
    append(directory, 20, 2);  // made by
    append_facts(directory, entry);
    directory.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    append(directory, place, 4);
    directory += entry.name;
  }
  const size_t start = file.size();
  file += directory;
  file += kEnd;
  append(file, 0, 4);  // disks
  append(file, entries.size(), 2);
  append(file, entries.size(), 2);
  append(file, directory.size(), 4);
  append(file, start, 4);
  append(file, 0, 2);  // comment
  return file;
}

}  // namespace fuzz
