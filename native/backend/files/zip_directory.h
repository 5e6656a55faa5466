// The directory of a zip archive, looked at before anything of the archive is unpacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace backend {

struct ZipRecord {
  std::string name;
  uint64_t size = 0;   ///< bytes, unpacked
  uint64_t begin = 0;  ///< of its local header, in bytes of the file
  uint64_t end = 0;    ///< behind its data
  bool deflated = false;
};

/// The records in the order of their place in the file. Throws LoadError (without the file's name)
/// for what no writer of PyTorch's files leaves behind, and other readers may take for something
/// else: records that share bytes, lie outside the file, are encrypted or listed twice, and those
/// that are deflated and together unpack to more than `most_unpacked` bytes.
/// Source: PKWARE, APPNOTE.TXT, 4.3 (zip64 included).
std::vector<ZipRecord> read_zip_directory(std::span<const std::byte> file, uint64_t most_unpacked);

}  // namespace backend
