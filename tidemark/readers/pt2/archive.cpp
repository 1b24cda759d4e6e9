// Reads one entry with libzip.
#include "tidemark/readers/pt2/archive.h"

#include <zip.h>

#include <memory>

#include "tidemark/engine/base/error.h"

namespace tidemark::pt2 {
namespace {

constexpr zip_uint64_t kMostBytes = 1ull << 30;  // a model of a million nodes has less

struct Close {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Zip = std::unique_ptr<zip_t, Close>;
using File = std::unique_ptr<zip_file_t, Close>;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::BadFormat, why, "archive", "write it with torch.export.save");
}

Zip open(std::span<const std::byte> archive) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(archive.data(), archive.size(), 0, &error);
  if (!source) refuse("the archive cannot be read");
  Zip zip(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!zip) {
    zip_source_free(source);
    zip_error_fini(&error);
    refuse("this is no zip file, or a damaged one");
  }
  zip_error_fini(&error);
  return zip;
}

// The first model of the archive, whatever its folder is called.
zip_int64_t find_model(zip_t* zip) {
  const zip_int64_t count = zip_get_num_entries(zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    const std::string_view path = name ? name : "";
    if (path.find("models/") != std::string_view::npos && path.ends_with(".json")) return i;
  }
  refuse("the archive has no models/model.json");
}

}  // namespace

bool looks_like_archive(std::span<const std::byte> beginning) {
  return beginning.size() >= 4 && beginning[0] == std::byte{'P'} &&
         beginning[1] == std::byte{'K'} && beginning[2] == std::byte{3} &&
         beginning[3] == std::byte{4};
}

std::string read_model_json(std::span<const std::byte> archive) {
  const Zip zip = open(archive);
  const auto entry = static_cast<zip_uint64_t>(find_model(zip.get()));
  zip_stat_t facts;
  if (zip_stat_index(zip.get(), entry, 0, &facts) != 0 || !(facts.valid & ZIP_STAT_SIZE))
    refuse("the archive's model has no size");
  if (facts.size > kMostBytes || facts.size > 2000 * archive.size())
    refuse("the archive's model claims to be larger than it can be");
  const File file(zip_fopen_index(zip.get(), entry, 0));
  if (!file) refuse("the archive's model cannot be opened");
  std::string text(facts.size, '\0');
  const zip_int64_t got = zip_fread(file.get(), text.data(), text.size());
  if (got < 0 || static_cast<zip_uint64_t>(got) != facts.size)
    refuse("the archive's model is damaged");
  return text;
}

}  // namespace tidemark::pt2
