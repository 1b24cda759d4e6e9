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
  File "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias))");
  EXPECT_EQ(found.file, "model.py");
  EXPECT_EQ(found.line, 12u);
}

TEST(SourceLine, IsTorchsOwnWhereThereIsNoOther) {
  const SourceLine found = find_source_line(R"(File "/x/site-packages/torch/a.py", line 1, in f
File "/x/site-packages/torch/b.py", line 2, in g)");
  EXPECT_EQ(found.file, "/x/site-packages/torch/b.py");
}

TEST(SourceLine, AFolderOfTheUsersThatIsCalledTorchIsTheUsers) {
  const SourceLine found = find_source_line(R"(File "/home/me/torch/train.py", line 7, in step
File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward)");
  EXPECT_EQ(found.file, "/home/me/torch/train.py");
  EXPECT_EQ(found.line, 7u);
}

TEST(SourceLine, TheFolderOfATorchBuiltFromSourceIsKnownFromTheCaller) {
  constexpr std::string_view kStack = R"(File "/src/torch_models/net.py", line 3, in forward
File "/src/torch/nn/functional.py", line 9, in relu)";
  EXPECT_EQ(find_source_line(kStack, "/src/torch").file, "/src/torch_models/net.py");
  EXPECT_EQ(find_source_line(kStack, "/src/torch/").file, "/src/torch_models/net.py");
  EXPECT_EQ(find_source_line(kStack).file, "/src/torch/nn/functional.py");
}

TEST(SourceLine, TextWithoutFramesHasNone) {
  EXPECT_EQ(find_source_line("").file, "");
  EXPECT_EQ(find_source_line("File \"cut").file, "");
  EXPECT_EQ(find_source_line("File \"a.py\", line ").line, 0u);
}

}  // namespace
}  // namespace tidemark
