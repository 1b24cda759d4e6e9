// The user's line in a printed stack.
#include "tidemark/engine/graph/source_line.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(SourceLine, IsTheInnermostOutsideOfTorch) {
  const SourceLine found = find_source_line(R"(  File "train.py", line 3, in main
    loss = model(x)
  File "model.py", line 12, in forward
    return self.linear(x)
  File "/usr/lib/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias))");
  EXPECT_EQ(found.file, "model.py");
  EXPECT_EQ(found.line, 12u);
}

TEST(SourceLine, IsTorchsOwnWhereThereIsNoOther) {
  const SourceLine found = find_source_line(R"(File "/x/torch/a.py", line 1, in f
File "/x/torch/b.py", line 2, in g)");
  EXPECT_EQ(found.file, "/x/torch/b.py");
}

TEST(SourceLine, TextWithoutFramesHasNone) {
  EXPECT_EQ(find_source_line("").file, "");
  EXPECT_EQ(find_source_line("File \"cut").file, "");
  EXPECT_EQ(find_source_line("File \"a.py\", line ").line, 0u);
}

}  // namespace
}  // namespace tidemark
