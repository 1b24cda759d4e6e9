// Runs every property on many random tapes, and prints the seed of the first that fails.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/property/properties.h"
#include "tidemark/engine/tape/text_writer.h"

namespace {

using namespace tidemark::test;

constexpr std::uint64_t kDefaultSeed = 20'240'229;
constexpr std::uint64_t kDefaultRuns = 10'000;
constexpr std::string_view kUsage =
    "usage: tidemark_property_tests [--seed N] [--runs N] [--only PART_OF_NAME] [--part K/N]\n"
    "--part 1/2 tries every second tape, 2/2 the others: two processes for two processors.\n"
    "TIDEMARK_SEED and TIDEMARK_PROPERTY_RUNS give the same two numbers.\n";

struct Options {
  std::uint64_t seed = kDefaultSeed, runs = kDefaultRuns;
  std::uint64_t part = 1, parts = 1;
  std::string only;
};

std::uint64_t number_or(const char* text, std::uint64_t otherwise) {
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool read_part(const std::string& text, Options& options) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  options.part = number_or(text.substr(0, slash).c_str(), 0);
  options.parts = number_or(text.substr(slash + 1).c_str(), 0);
  return options.part >= 1 && options.part <= options.parts;
}

bool read_options(int count, char** words, Options& options) {
  options.seed = number_or(std::getenv("TIDEMARK_SEED"), kDefaultSeed);
  options.runs = number_or(std::getenv("TIDEMARK_PROPERTY_RUNS"), kDefaultRuns);
  for (int i = 1; i < count; i += 2) {
    const std::string_view word = words[i];
    if (i + 1 == count) return false;
    if (word == "--seed") options.seed = number_or(words[i + 1], 0);
    else if (word == "--runs") options.runs = number_or(words[i + 1], 0);
    else if (word == "--only") options.only = words[i + 1];
    else if (word != "--part" || !read_part(words[i + 1], options)) return false;
  }
  return true;
}

std::vector<Property> all_properties(const std::string& only) {
  std::vector<Property> all;
  for (auto part : {tape_properties, replay_properties, walk_properties, peak_properties,
                    timeline_properties, scopes_properties, lifetimes_properties, diff_properties,
                    live_properties, graph_properties, dataflow_properties, allocator_properties})
    for (const Property& property : part())
      if (std::string_view(property.name).find(only) != std::string_view::npos)
        all.push_back(property);
  return all;
}

// True when every property holds for the tape of this seed.
bool holds_for(std::uint64_t seed, const std::vector<Property>& properties) {
  const Sample sample(seed);
  for (const Property& property : properties) try {
      property.check(sample);
    } catch (const std::exception& failure) {
      std::cout << "FAILED: " << property.name << "\n  " << failure.what()
                << "\n  again with: tidemark_property_tests --runs 1 --seed " << seed
                << "\n  the tape:\n"
                << tidemark::write_tape_text(sample.tape);
      return false;
    }
  return true;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    std::cerr << kUsage;
    return 2;
  }
  const std::vector<Property> properties = all_properties(options.only);
  std::uint64_t tried = 0;
  for (std::uint64_t run = options.part - 1; run < options.runs; run += options.parts, ++tried)
    if (!holds_for(options.seed + run, properties)) return 1;
  std::cout << properties.size() << " properties hold for " << tried << " random tapes from seed "
            << options.seed << "\n";
  return properties.empty() ? 1 : 0;
}
