// The directory of a zip archive, looked at before anything of the archive is unpacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace backend {

struct ZipRecord {
  uint64_t size = 0;                 ///< bytes, unpacked
  std::span<const std::byte> bytes;  ///< as they lie in the file
  bool deflated = false;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// The records of an archive, by their names without the folder that the first of them lies in.
struct ZipDirectory : std::map<std::string, ZipRecord, std::less<>> {
  /// Throws LoadError where there is none of that name.
  const ZipRecord& record(std::string_view name) const;

  /// Throws LoadError where a record `byteorder` names another order than this machine's.
  void require_little_endian() const;
};

/// Which records an archive may hold outside of the first one's folder.
enum class ZipOutside { kNothing, kAnything };

/// Throws LoadError (without the file's name) for what no writer of PyTorch's files leaves behind,
/// and other readers may take for something else: records that share bytes, lie outside the file,
/// are encrypted or listed twice, and those that are deflated and together unpack to more than
/// `most_unpacked` bytes.
/// Source: PKWARE, APPNOTE.TXT, 4.3 (zip64 included).
ZipDirectory read_zip_directory(std::span<const std::byte> file, uint64_t most_unpacked,
                                ZipOutside outside = ZipOutside::kNothing);

}  // namespace backend
