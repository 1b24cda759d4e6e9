// Who has how much of a peak: sites of like storages, source lines, subtrees of modules.
#include <gtest/gtest.h>

#include "tests/support/written_tape.h"

#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/tape/builder.h"

namespace tidemark {
namespace {

DevicePeak peak_of(const std::string& text, PeakOptions options = {}) {
  return find_peak(test::cpu_tape(text), options).devices.at(0);
}

TEST(PeakShares, LikeStoragesAreOneSite) {
  const DevicePeak peak = peak_of(
      "alloc a 100 Activation op=aten::mm at=big.py:5\nalloc b 100 Activation op=aten::mm "
      "at=big.py:5\n"
      "alloc c 100 Activation op=aten::mm at=big.py:6\nalloc d 100 Gradient op=aten::mm "
      "at=big.py:5\n"
      "alloc e 150 Activation op=aten::mm at=big.py:5\n");
  ASSERT_EQ(peak.sites.size(), 4u);
  EXPECT_EQ(peak.sites[0].count, 2);
  EXPECT_EQ(peak.sites[0].each_bytes, 100);
  EXPECT_EQ(peak.sites[0].allocated_bytes, 200);
  EXPECT_EQ(peak.sites[0].source, "big.py:5");
  EXPECT_EQ(peak.sites[1].allocated_bytes, 150);
  // Of equals the first born comes first.
  EXPECT_EQ(peak.sites[2].source, "big.py:6");
  EXPECT_EQ(peak.sites[3].category, Category::Gradient);
}

TEST(PeakShares, AShapeComesFromTheResultOfThatSize) {
  TapeBuilder builder;
  const DeviceId device = builder.tables().device("cpu");
  Place place;
  place.call = builder.tables().call("aten::max_pool", "(f32[8,4]) -> f32[2,3], i64[2,3]");
  builder.alloc(device, 48, Category::Activation, place);  // six of eight bytes
  builder.alloc(device, 24, Category::Activation, place);  // six of four
  builder.alloc(device, 23, Category::Activation, place);  // no result has that size
  const DevicePeak peak = find_peak(builder.finish()).devices.at(0);
  ASSERT_EQ(peak.sites.size(), 3u);
  EXPECT_EQ(peak.sites[0].shape, "i64[2,3]");
  EXPECT_EQ(peak.sites[1].shape, "f32[2,3]");
  EXPECT_EQ(peak.sites[2].shape, "");
}

TEST(PeakShares, SignaturesThatDoNotReadGiveNoShape) {
  for (const char* signature : {"", "->", "() -> ", "() -> f32", "() -> f32[", "() -> f32[1,",
                                "() -> f32[9999999999,9999999999]", "() -> q7[4]", "() -> ]"}) {
    TapeBuilder builder;
    Place place;
    place.call = builder.tables().call("aten::odd", signature);
    builder.alloc(builder.tables().device("cpu"), 16, Category::Activation, place);
    EXPECT_EQ(find_peak(builder.finish()).devices.at(0).sites.at(0).shape, "") << signature;
  }
}

TEST(PeakShares, SourceLinesSumWhatTheyMade) {
  const DevicePeak peak = peak_of(
      "alloc a 100 Activation at=t.py:1\nalloc b 30 Gradient at=t.py:1\nalloc c 120 Buffer\n");
  ASSERT_EQ(peak.lines.size(), 2u);
  EXPECT_EQ(peak.lines[0].source, "t.py:1");
  EXPECT_EQ(peak.lines[0].allocated_bytes, 130);
  EXPECT_EQ(peak.lines[0].count, 2);
  EXPECT_EQ(peak.lines[1].source, "");
}

TEST(PeakShares, ModulesSumTheirSubtreesDownToADepth) {
  PeakOptions options;
  options.depth = 2;
  const DevicePeak peak = peak_of(
      "begin net.a.x\nalloc p 10 Parameter\nend net.a.x\nbegin net.b\nalloc q 5 Parameter\nend "
      "net.b\n"
      "begin net.a\nalloc r 1 Buffer\nend net.a\nalloc s 7\n",
      options);
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const ScopeShare& share : peak.modules)
    found.emplace_back(share.scope, share.allocated_bytes);
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"net", 16}, {"net.a", 11}, {"net.b", 5}, {"", 7}};
  EXPECT_EQ(found, expected);
}

TEST(PeakShares, ListsAreAsLongAsAskedFor) {
  PeakOptions options;
  options.top = 1;
  const DevicePeak peak =
      peak_of("alloc a 1 at=t.py:1\nalloc b 2 at=t.py:2\nalloc c 3 at=t.py:3\n", options);
  EXPECT_EQ(peak.sites.size(), 1u);
  EXPECT_EQ(peak.lines.size(), 1u);
  EXPECT_EQ(peak.largest.size(), 1u);
}

}  // namespace
}  // namespace tidemark
