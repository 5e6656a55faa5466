// Unpacks and packs archives as torch.save writes them: with random bytes only, checksums would be
// wrong and the code behind them unreachable.
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

/// Unset: not an archive of uncompressed entries.
std::optional<std::vector<ZipEntry>> read_zip(std::string_view file);

std::string write_zip(const std::vector<ZipEntry>& entries);

}  // namespace fuzz
