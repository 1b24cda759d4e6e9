// Writes a tape from C++, watches its peak while it grows, and prints the answer.
#include <cstdio>

#include "tidemark/engine/analyses/peak.h"
#include "tidemark/engine/reports/text.h"
#include "tidemark/engine/tape/builder.h"

using tidemark::Category;

int main() {
  tidemark::TapeBuilder builder;
  tidemark::PeakAccumulator peak(builder.tables());
  const auto device = builder.tables().device("cuda:0");
  const auto layer = builder.tables().scope("model.layer");

  const auto weight = builder.alloc(device, 4 << 20, Category::Parameter);
  peak.add(builder.last());
  builder.begin_scope(layer);
  peak.add(builder.last());
  const auto hidden = builder.alloc(device, 16 << 20, Category::Activation);
  peak.add(builder.last());
  builder.end_scope(layer);
  peak.add(builder.last());
  for (const auto storage : {hidden, weight}) {
    builder.free(storage);
    peak.add(builder.last());
  }
  std::fputs(tidemark::text_report(peak.answer()).c_str(), stdout);
}
