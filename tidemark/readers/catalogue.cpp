// The list of readers.
#include "tidemark/readers/catalogue.h"

#include <algorithm>
#include <array>

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/chakra/execution_trace.h"
#include "tidemark/readers/kineto/profiler_trace.h"
#include "tidemark/readers/naming.h"
#include "tidemark/readers/pt2/exported_model.h"
#include "tidemark/readers/tape/tape_readers.h"
#include "tidemark/readers/unread/unread.h"

namespace tidemark {
namespace {

constexpr std::array kCatalogue = {
    &kPythonScript,
    &kBinaryTape,      // what tidemark writes
    &kTextTape,        // and what people write
    &kExportedModel,   // torch.export.save
    &kMemorySnapshot,  // torch.cuda.memory._dump_snapshot
    &kProfilerTrace,   // torch.profiler
    &kExecutionTrace,  // ExecutionTraceObserver
    &kCompiledModel,   // AOTInductor
    &kTorchScript,     // torch.jit.save
    &kCheckpoint,      // torch.save
    &kSafetensors,    &kOnnx, &kOtherPickle, &kOtherZip, &kGzip, &kOtherJson, &kOtherText, &kOther,
};

// The sentence with the path in the place of FILE.
std::string about(const std::string& path, std::string_view sentence) {
  constexpr std::string_view kWord = "FILE";
  std::string text(sentence);
  for (std::size_t at = text.find(kWord); at != std::string::npos;
       at = text.find(kWord, at + path.size()))
    text.replace(at, kWord.size(), path);
  return text;
}

}  // namespace

std::span<const Reader* const> readers() { return kCatalogue; }

const Reader& find_reader(const Candidate& file) {
  return **std::find_if(kCatalogue.begin(), kCatalogue.end() - 1,
                        [&](const Reader* reader) { return reader->looks_like(file); });
}

Tape open_file(const std::string& path, const InputOptions& options) {
  return naming(path, [&] {
    const Candidate file(path);
    const Reader& reader = find_reader(file);
    if (!options.companion.empty() && &reader != &kProfilerTrace)
      throw Error(ErrorCode::BadArgument, "an execution trace can only be joined to a profiler's",
                  path, "this is " + std::string(reader.name));
    if (reader.read) return reader.read(file, options);
    throw Error(ErrorCode::Unsupported, "this is " + std::string(reader.name), path,
                about(path, reader.instead));
  });
}

}  // namespace tidemark
