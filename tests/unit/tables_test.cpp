// The tables behind a tape's ids.
#include "tidemark/engine/tape/tables.h"

#include <gtest/gtest.h>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/rounding.h"

namespace tidemark {
namespace {

TEST(Tables, CudaDevicesRoundUpTo512AndOthersDoNot) {
  Tables tables;
  const auto allocated = [&](const char* device, std::int64_t requested) {
    return rounded_up(requested, tables.devices()[tables.device(device).value].granularity);
  };
  EXPECT_EQ(allocated("cuda:0", 0), 0);
  EXPECT_EQ(allocated("cuda:0", 1), 512);
  EXPECT_EQ(allocated("cuda:0", 512), 512);
  EXPECT_EQ(allocated("cuda:0", 513), 1024);
  for (const char* name : {"cpu", "cudaish", "mps:0"}) EXPECT_EQ(allocated(name, 513), 513) << name;
}

TEST(Tables, AScopeBringsItsParents) {
  Tables tables;
  const ScopeId attn = tables.scope("layers.0.attn");
  ASSERT_EQ(tables.scopes().size(), 3u);
  const ScopeId layer = tables.scopes()[attn.value].parent;
  EXPECT_EQ(tables.scope_path(layer), "layers.0");
  EXPECT_EQ(tables.scope_path(tables.scopes()[layer.value].parent), "layers");
  EXPECT_LT(layer, attn);
  EXPECT_EQ(tables.scope("layers.0"), layer);
}

TEST(Tables, DotsAtTheEdgesMakeNoEndlessParents) {
  Tables tables;
  for (const char* path : {"", ".", "..", ".a", "a.", "a..b"}) {
    const ScopeId id = tables.scope(path);
    EXPECT_EQ(tables.scope_path(id), path);
    EXPECT_EQ(tables.scope(path), id);
  }
}

TEST(Tables, AnAbsurdlyDeepNameIsOneScope) {
  Tables tables;
  std::string path = "a";
  for (int i = 0; i < 10'000; ++i) path += ".a";
  EXPECT_FALSE(tables.scopes()[tables.scope(path).value].parent);
  EXPECT_EQ(tables.scopes().size(), 1u);
}

TEST(Tables, StacksShareTheirCallers) {
  Tables tables;
  const StackId main = tables.stack({}, "train.py", 3, "main");
  const StackId step = tables.stack(main, "train.py", 12, "step");
  EXPECT_EQ(tables.stack(main, "train.py", 12, "step"), step);
  EXPECT_NE(tables.stack({}, "train.py", 12, "step"), step);
  EXPECT_EQ(tables.source(step), "train.py:12");
  EXPECT_EQ(tables.source({}), "");
}

TEST(Tables, CallsDifferByTheirSignature) {
  Tables tables;
  const CallId small = tables.call("aten::mm", "[2, 2]"), large = tables.call("aten::mm", "[4, 4]");
  EXPECT_NE(small, large);
  EXPECT_EQ(tables.call("aten::mm", "[2, 2]"), small);
  EXPECT_EQ(tables.op_name(large), "aten::mm");
}

TEST(Tables, A255thDeviceIsTheLast) {
  Tables tables;
  for (int i = 0; i < 255; ++i) tables.device("d" + std::to_string(i));
  EXPECT_THROW(tables.device("one more"), Error);
  EXPECT_EQ(tables.device("d254").value, 254);
}

TEST(Tables, MetaEntriesAreReplacedAndTheChangeIsCounted) {
  Tables tables;
  tables.set_meta("state", "running");
  const std::size_t before = tables.meta_changes();
  tables.set_meta("state", "done");
  EXPECT_EQ(tables.meta().at("state"), "done");
  EXPECT_GT(tables.meta_changes(), before);
  EXPECT_THROW(tables.set_meta("k", std::string(100'000, 'x')), Error);
}

TEST(Tables, FindingADeviceDoesNotMakeOne) {
  Tables tables;
  EXPECT_FALSE(tables.find_device("cpu"));
  EXPECT_TRUE(tables.devices().empty());
}

}  // namespace
}  // namespace tidemark
