// Validated directory of a zip archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace common {

struct ZipRecord {
  uint64_t size = 0;                 ///< uncompressed size in bytes
  std::span<const std::byte> bytes;  ///< stored bytes, possibly compressed
  bool deflated = false;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// Records of an archive by name, without the folder of the first record.
struct ZipDirectory : std::map<std::string, ZipRecord, std::less<>> {
  /// Throws LoadError if no record has this name.
  const ZipRecord& record(std::string_view name) const;

  /// Throws LoadError if the record `byteorder` is not "little".
  void require_little_endian() const;
};

/// Whether records outside the first record's folder are allowed.
enum class OutsideRecords { kRejected, kAllowed };

/// Reads and validates the directory. Throws LoadError (without the file's name) for archives that
/// PyTorch does not write and that readers interpret differently: records that overlap, are outside
/// the file, encrypted or duplicated, or compressed records whose total uncompressed size exceeds
/// `max_unpacked` bytes. Source: PKWARE, APPNOTE.TXT, 4.3 (zip64 included).
ZipDirectory read_zip_directory(std::span<const std::byte> file, uint64_t max_unpacked,
                                OutsideRecords outside = OutsideRecords::kRejected);

}  // namespace common
