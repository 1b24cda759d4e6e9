// PyTorch's files that are not read: snapshots, checkpoints. Nothing is ever unpickled.
#include "tidemark/readers/unread/unread.h"

#include "tidemark/readers/unread/first_bytes.h"

namespace tidemark {
namespace {

// A dictionary whose first key is `segments`, or, from old versions, a list of segments.
bool is_snapshot_pickle(std::string_view bytes) {
  return has_pickled(bytes.substr(0, 64), "segments") ||
         (has_pickled(bytes, "total_size") && has_pickled(bytes, "segment_type"));
}

bool is_snapshot(const Candidate& file) {
  if (is_pickle(file.beginning())) return is_snapshot_pickle(file.beginning());
  for (std::string_view ending : {".pickle", ".pkl"})
    if (file.has_member(ending) && is_snapshot_pickle(file.beginning_of_member(ending)))
      return true;
  return false;
}

bool is_compiled_model(const Candidate& file) {
  for (const std::string& name : file.members())
    if (name.find("data/aotinductor/") != std::string::npos) return true;
  return false;
}

bool is_torchscript(const Candidate& file) {
  return file.has_member("constants.pkl") && file.has_member("data.pkl");
}

// Before 1.6 torch.save wrote a row of pickles; the first is this number.
bool is_checkpoint(const Candidate& file) {
  constexpr std::string_view kOldMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  if (is_pickle(file.beginning()))
    return file.beginning().substr(0, 32).find(kOldMagic) != std::string_view::npos;
  return file.has_member("data.pkl");
}

}  // namespace

const Reader kMemorySnapshot = {
    "a PyTorch memory snapshot", &is_snapshot, nullptr,
    "reading those is not there yet; tidemark record SCRIPT writes a tape of such a run"};
const Reader kCompiledModel = {
    "a model compiled by AOTInductor, which has no graph any more", &is_compiled_model, nullptr,
    "save the exported program itself: torch.export.save(program, \"model.pt2\")"};
const Reader kTorchScript = {
    "a TorchScript model", &is_torchscript, nullptr,
    "export the model instead: torch.export.save(torch.export.export(model, inputs), "
    "\"model.pt2\")"};
const Reader kCheckpoint = {
    "a checkpoint of torch.save: values, but neither a run nor a graph", &is_checkpoint, nullptr,
    "tidemark estimate SCRIPT shows what training needs; torch.export.save writes a model that can "
    "be read"};

}  // namespace tidemark
