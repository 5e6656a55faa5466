// Archives as torch.save writes them, taken apart and put together again: with random bytes alone
// no checksum would be right, and nothing behind it be reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct ZipEntry {
  std::string name;
  std::string content;
};

/// nullopt: not an archive of entries without compression.
std::optional<std::vector<ZipEntry>> read_zip(std::string_view file);

std::string write_zip(const std::vector<ZipEntry>& entries);

}  // namespace fuzz
