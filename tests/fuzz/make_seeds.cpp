// make_seeds DIR FILE...: turns .case files and tape texts into seeds for both fuzz targets.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/support/tape_content.h"
#include "tests/support/toy_codec.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/text_reader.h"

namespace {

namespace fs = std::filesystem;
using namespace tidemark;

void write(const fs::path& path, const void* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

// The tape of a .case file ends where its first heading begins.
std::string tape_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.substr(0, text.find("\n=== "));
}

void write_seeds(const fs::path& folder, const fs::path& source) {
  const std::string name = source.stem().string(), text = tape_text(source);
  write(folder / "text" / name, text.data(), text.size());
  try {
    const Tape tape = read_tape_text(text);
    const test::ToyCodec codec;
    const auto stored = test::file_of(tape), packed = test::file_of(tape, &codec);
    write(folder / "file" / name, stored.data(), stored.size());
    write(folder / "file" / (name + "_packed"), packed.data(), packed.size());
  } catch (const Error&) {
    // A text that must fail is a seed for the text reader alone.
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::cerr << "usage: make_seeds DIR FILE...\n";
    return 2;
  }
  const fs::path folder = words[1];
  fs::create_directories(folder / "text");
  fs::create_directories(folder / "file");
  for (int i = 2; i < count; ++i) write_seeds(folder, words[i]);
  return 0;
}
