#include "common/files/zip_directory.h"

#include <algorithm>
#include <set>

#include "common/error.h"

namespace common {
namespace {

constexpr uint32_t kEndOfDirectory = 0x06054b50;
constexpr uint32_t kZip64Locator = 0x07064b50;
constexpr uint32_t kZip64EndOfDirectory = 0x06064b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint64_t kZip64Marker =
    0xffffffff;  ///< value of a 32-bit field whose value is in the zip64 field
constexpr uint16_t kZip64Extra = 1;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

/// Bounds-checked reads of little-endian integers and text. Throws LoadError outside the file.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t number(uint64_t offset, size_t size) const {
    uint64_t value = 0;
    const auto digits = part(offset, size);
    for (size_t i = 0; i < size; ++i) value |= std::to_integer<uint64_t>(digits[i]) << (8 * i);
    return value;
  }

  std::string text(uint64_t offset, uint64_t size) const {
    const auto taken = part(offset, size);
    std::string text(size, '\0');
    std::ranges::transform(taken, text.begin(), [](std::byte b) { return static_cast<char>(b); });
    return text;
  }

  uint64_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> part(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw LoadError("is not a zip archive, or is truncated");
    }
    return bytes_.subspan(offset, size);
  }

  std::span<const std::byte> bytes_;
};

struct Directory {
  uint64_t begin = 0;
  uint64_t size = 0;
  uint64_t records = 0;
};

/// Locates the directory. The file must end with the end record, without a comment: readers search
/// backwards, and with a comment they may find different records.
Directory find_directory(const Bytes& file) {
  constexpr uint64_t kEndSize = 22;
  constexpr uint64_t kLocatorSize = 20;
  if (file.size() < kEndSize) throw LoadError("is not a zip archive, or is truncated");
  const uint64_t end = file.size() - kEndSize;
  if (file.number(end, 4) != kEndOfDirectory) {
    throw LoadError("is not a zip archive, or is truncated");
  }
  Directory directory{.begin = file.number(end + 16, 4),
                      .size = file.number(end + 12, 4),
                      .records = file.number(end + 10, 2)};
  if (end >= kLocatorSize && file.number(end - kLocatorSize, 4) == kZip64Locator) {
    const uint64_t wide = file.number(end - kLocatorSize + 8, 8);
    if (file.number(wide, 4) != kZip64EndOfDirectory) {
      throw LoadError("has a damaged zip directory");
    }
    directory = {.begin = file.number(wide + 48, 8),
                 .size = file.number(wide + 40, 8),
                 .records = file.number(wide + 32, 8)};
  }
  if (directory.begin > end || directory.size > end - directory.begin) {
    throw LoadError("has a damaged zip directory");
  }
  return directory;
}

/// Size and offset of a record, from its directory entry and its zip64 field.
struct Entry {
  uint64_t size;
  uint64_t packed_size;
  uint64_t offset;

  Entry(const Bytes& file, uint64_t entry, uint64_t extra, uint64_t extra_size)
      : size(file.number(entry + 24, 4)),
        packed_size(file.number(entry + 20, 4)),
        offset(file.number(entry + 42, 4)) {
    for (uint64_t offset_in_directory = extra; offset_in_directory + 4 <= extra + extra_size;) {
      const uint64_t length = file.number(offset_in_directory + 2, 2);
      uint64_t field = offset_in_directory + 4;
      if (file.number(offset_in_directory, 2) == kZip64Extra) {
        for (uint64_t* narrow : {&size, &packed_size, &offset}) {
          if (*narrow != kZip64Marker) continue;
          *narrow = file.number(field, 8);
          field += 8;
        }
      }
      offset_in_directory += 4 + length;
    }
  }
};

/// Returns the end offset of the record's data. Sizes in the local header are ignored, as our
/// readers do.
uint64_t end_of_record(const Bytes& file, const Entry& entry, const std::string& name) {
  constexpr uint64_t kHeaderSize = 30;
  if (file.number(entry.offset, 4) != kLocalHeader) {
    throw LoadError(name + ": its zip record is damaged");
  }
  const uint64_t name_size = file.number(entry.offset + 26, 2);
  if (file.text(entry.offset + kHeaderSize, name_size) != name) {
    throw LoadError(name + ": its zip record has another name");
  }
  const uint64_t data = entry.offset + kHeaderSize + name_size + file.number(entry.offset + 28, 2);
  if (data > file.size() || entry.packed_size > file.size() - data) {
    throw LoadError(name + ": its zip record ends outside the file");
  }
  return data + entry.packed_size;
}

/// A record with its position in the file.
struct LocatedRecord {
  std::string name;
  uint64_t begin = 0;  ///< offset of its local header
  uint64_t end = 0;    ///< end offset of its data
  ZipRecord record;
};

void require_no_overlap(const std::vector<LocatedRecord>& records, uint64_t directory) {
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t most = i + 1 < records.size() ? records[i + 1].begin : directory;
    if (records[i].end > most) {
      throw LoadError(records[i].name + ": its zip record shares bytes with " +
                      (i + 1 < records.size() ? records[i + 1].name : "the directory"));
    }
  }
}

/// Reads all directory entries, sorted by offset.
std::vector<LocatedRecord> located_records(std::span<const std::byte> bytes,
                                           uint64_t max_unpacked) {
  const Bytes file(bytes);
  const Directory directory = find_directory(file);
  std::vector<LocatedRecord> records;
  std::set<std::string> names;
  uint64_t unpacked = 0;
  uint64_t offset_in_directory = directory.begin;
  for (uint64_t i = 0; i < directory.records; ++i) {
    if (file.number(offset_in_directory, 4) != kDirectoryEntry)
      throw LoadError("has a damaged zip directory");
    const uint64_t name_size = file.number(offset_in_directory + 28, 2);
    const uint64_t extra_size = file.number(offset_in_directory + 30, 2);
    const std::string name = file.text(offset_in_directory + 46, name_size);
    const Entry entry(file, offset_in_directory, offset_in_directory + 46 + name_size, extra_size);
    const uint64_t method = file.number(offset_in_directory + 10, 2);
    if (!names.insert(name).second) throw LoadError(name + ": is duplicated in the zip directory");
    if ((file.number(offset_in_directory + 8, 2) & kEncrypted) != 0 ||
        (method != kStored && method != kDeflated)) {
      throw LoadError(name +
                      ": its zip record is encrypted, or uses an unknown compression method");
    }
    if (method == kStored && entry.size != entry.packed_size) {
      throw LoadError(name + ": its zip record has two sizes");
    }
    if (method == kDeflated && max_unpacked == 0) {
      throw LoadError(name + ": is compressed; records of such files must not be");
    }
    if (method == kDeflated && (entry.size > max_unpacked - unpacked)) {
      throw LoadError(name + ": unpacks to more than the " + std::to_string(max_unpacked >> 20U) +
                      " MiB that are allowed");
    }
    if (method == kDeflated) unpacked += entry.size;
    const uint64_t end = end_of_record(file, entry, name);
    records.push_back(
        {.name = name,
         .begin = entry.offset,
         .end = end,
         .record = {.size = entry.size,
                    .bytes = bytes.subspan(end - entry.packed_size, entry.packed_size),
                    .deflated = method == kDeflated}});
    offset_in_directory += 46 + name_size + extra_size + file.number(offset_in_directory + 32, 2);
  }
  if (offset_in_directory != directory.begin + directory.size)
    throw LoadError("has a damaged zip directory");
  std::ranges::sort(records, {}, &LocatedRecord::begin);
  require_no_overlap(records, directory.begin);
  return records;
}

}  // namespace

const ZipRecord& ZipDirectory::record(std::string_view name) const {
  const auto found = find(name);
  if (found == end()) throw LoadError("has no record " + std::string(name));
  return found->second;
}

void ZipDirectory::require_little_endian() const {
  if (!contains("byteorder") || record("byteorder").text() == "little") return;
  throw LoadError("was written on a big-endian machine");
}

ZipDirectory read_zip_directory(std::span<const std::byte> file, uint64_t max_unpacked,
                                OutsideRecords outside) {
  ZipDirectory directory;
  std::string folder;
  for (LocatedRecord& placed : located_records(file, max_unpacked)) {
    const size_t end = placed.name.find('/') + 1;  // 0: not in a folder
    if (directory.empty()) folder = placed.name.substr(0, end);
    const bool is_inside = placed.name.starts_with(folder);
    if (outside == OutsideRecords::kRejected && end == 0) {
      throw LoadError(placed.name + ": is in no folder");
    }
    if (outside == OutsideRecords::kRejected && !is_inside) {
      throw LoadError(placed.name + ": is in another folder than " +
                      folder.substr(0, folder.size() - 1));
    }
    directory.emplace(placed.name.substr(is_inside ? folder.size() : 0), placed.record);
  }
  return directory;
}

}  // namespace common
