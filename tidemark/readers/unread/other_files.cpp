// Files of others that people may give by mistake, and what is left when nothing fits.
#include "tidemark/engine/base/little_endian.h"
#include "tidemark/readers/unread/first_bytes.h"
#include "tidemark/readers/unread/unread.h"

namespace tidemark {
namespace {

bool is_script(const Candidate& file) {
  if (!file.is_text()) return false;
  const std::string_view first = file.beginning().substr(0, file.beginning().find('\n'));
  return file.is_named(".py") ||
         (first.starts_with("#!") && first.find("python") != std::string_view::npos);
}

// The length of a JSON head in eight bytes, then the head.
bool is_safetensors(const Candidate& file) {
  constexpr std::size_t kLengthBytes = 8;
  const std::string_view bytes = file.beginning();
  if (bytes.size() <= kLengthBytes || bytes[kLengthBytes] != '{') return false;
  const auto length =
      load_little_endian<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes.data()));
  return length > 0 && length <= file.size() - kLengthBytes;
}

// A protobuf message that begins with a small version number; its maker's name follows it.
bool is_onnx(const Candidate& file) {
  const std::string_view bytes = file.beginning();
  if (bytes.size() < 4 || bytes[0] != 8 || bytes[1] < 1 || bytes[1] > 64) return false;
  return file.is_named(".onnx") || (bytes[2] == 0x12 && bytes.substr(4).starts_with("pytorch"));
}

bool is_other_pickle(const Candidate& file) { return is_pickle(file.beginning()); }
bool is_other_zip(const Candidate& file) { return file.is_zip(); }
bool is_other_gzip(const Candidate& file) { return is_gzip(file.beginning()); }
bool is_other_text(const Candidate& file) { return file.is_text(); }
bool is_anything(const Candidate&) { return true; }

bool is_other_json(const Candidate& file) {
  const char first = first_character(file.beginning());
  return file.is_text() && (first == '{' || first == '[');
}

}  // namespace

const Reader kPythonScript = {
    "a Python script", &is_script, nullptr,
    "tidemark estimate FILE runs it on virtual GPUs; tidemark record FILE follows a real run"};
const Reader kSafetensors = {
    "a safetensors file: values, but neither a run nor a graph", &is_safetensors, nullptr,
    "tidemark estimate SCRIPT shows what training needs; torch.export.save writes a model that can "
    "be read"};
const Reader kOnnx = {
    "an ONNX model", &is_onnx, nullptr,
    "export it from PyTorch instead: torch.export.save(torch.export.export(model, inputs), "
    "\"model.pt2\")"};
const Reader kOtherPickle = {
    "a pickle, and neither a memory snapshot nor a checkpoint of PyTorch", &is_other_pickle,
    nullptr, "it is not opened: unpickling runs code; tidemark record SCRIPT writes a tape"};
const Reader kOtherZip = {"a zip archive without an exported model, or a damaged one",
                          &is_other_zip, nullptr,
                          "torch.export.save writes archives that can be read"};
const Reader kGzip = {"packed with gzip", &is_other_gzip, nullptr, "unpack it first: gunzip FILE"};
const Reader kOtherJson = {
    "JSON, but none that is read here", &is_other_json, nullptr,
    "tapes are made by tidemark record and tidemark estimate --save; a report is not read again"};
const Reader kOtherText = {
    "text, but not a tape", &is_other_text, nullptr,
    "the first line of a tape is: tape 1; tidemark record SCRIPT writes one"};
const Reader kOther = {"not a kind of file that is known here", &is_anything, nullptr,
                       "tapes can be read, and models that torch.export.save wrote (.pt2)"};

}  // namespace tidemark
