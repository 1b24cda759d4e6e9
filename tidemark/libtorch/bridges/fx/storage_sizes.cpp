// Plain sizes are read, symbolic ones asked for.
#include "tidemark/libtorch/bridges/fx/storage_sizes.h"

#include <c10/core/StorageImpl.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/utils/pybind.h>

#include "tidemark/engine/base/error.h"
#include "tidemark/libtorch/bridges/fx/lasting.h"

namespace tidemark::fx {
namespace {

// The hint of a symbolic size, as PyTorch's passes take it.
std::int64_t hint_of(const py::object& bytes) {
  static PyObject* const hint =
      lasting("torch.fx.experimental.symbolic_shapes", "optimization_hint");
  return py::handle(hint)(bytes).cast<std::int64_t>();
}

// None for bounds at infinity.
std::optional<std::int64_t> bound_of(const py::object& bound) {
  if (!py::hasattr(bound, "is_Integer") || !bound.attr("is_Integer").cast<bool>()) return {};
  const py::int_ number(bound);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow ? std::nullopt : std::optional<std::int64_t>(value);
}

}  // namespace

const StorageSizes::KnownDevice& StorageSizes::device_of(const ValueStorage& found) {
  for (const KnownDevice& known : devices_)
    if (known.device == found.device) return known;
  bool counts = true;
  if (!options_.counts.is_none()) {
    const auto device = py::reinterpret_steal<py::object>(THPDevice_New(found.device));
    counts = py::cast<bool>(py::bool_(options_.counts(device)));
  }
  devices_.push_back({found.device, builder_.device(found.device.str()), counts});
  return devices_.back();
}

bool StorageSizes::add_storage(const ValueStorage& found) {
  const KnownDevice& known = device_of(found);
  if (options_.sizes && known.counts) add_counted(known.id, found);
  else builder_.add_storage(known.id, 0);
  return known.counts;
}

void StorageSizes::add_counted(DeviceId device, const ValueStorage& found) {
  if (!options_.size_of.is_none()) {
    builder_.add_storage(device, ask(options_.size_of, found));
    return;
  }
  const c10::SymInt bytes = found.storage->sym_nbytes();
  if (const auto number = bytes.maybe_as_int()) builder_.add_storage(device, *number);
  else add_symbolic(device, found);
}

std::int64_t StorageSizes::ask(py::handle size_of, const ValueStorage& found) const {
  return size_of(py::cast(found.storage->sym_nbytes())).cast<std::int64_t>();
}

void StorageSizes::add_symbolic(DeviceId device, const ValueStorage& found) {
  const py::object bytes = py::cast(found.storage->sym_nbytes());
  if (!options_.mended) {
    builder_.add_storage(device, hint_of(bytes));
    return;
  }
  const std::size_t known = builder_.dimensions().size();
  const auto text = py::str(bytes.attr("node").attr("expr")).cast<std::string>();
  try {
    SizeExpression size = parse_size(text, builder_.dimensions());
    describe_dimensions(bytes, known);
    builder_.add_storage(device, std::move(size));
  } catch (const Error&) {
    // A form we cannot read has at least its hint.
    builder_.dimensions().cut(known);
    builder_.add_storage(device, hint_of(bytes));
  }
}

// Hints and ranges of the dimensions from number `known` on.
void StorageSizes::describe_dimensions(const py::object& bytes, std::size_t known) {
  const py::object environment = bytes.attr("node").attr("shape_env");
  for (py::handle symbol : bytes.attr("node").attr("expr").attr("free_symbols"))
    for (std::size_t i = known; i < builder_.dimensions().size(); ++i) {
      Dimension& dimension = builder_.dimensions()[i];
      if (py::str(symbol).cast<std::string>() != dimension.name) continue;
      const py::dict values = environment.attr("backed_var_to_val");
      if (values.contains(symbol)) dimension.hint = py::int_(values[symbol]).cast<std::int64_t>();
      const py::object range = environment.attr("var_to_range").attr("get")(symbol);
      if (range.is_none()) continue;
      dimension.lower = bound_of(range.attr("lower"));
      dimension.upper = bound_of(range.attr("upper"));
    }
}

}  // namespace tidemark::fx
