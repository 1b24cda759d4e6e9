// Bytes and devices of storages as they are first met, through the caller's own functions.
#pragma once

#include "tidemark/engine/graph/builder.h"
#include "tidemark/libtorch/bridges/fx/fx_graph.h"
#include "tidemark/libtorch/bridges/fx/value_storages.h"

namespace tidemark::fx {

class StorageSizes {
 public:
  StorageSizes(const ReadOptions& options, GraphBuilder& builder)
      : options_(options), builder_(builder) {}

  // The next storage of the builder; returns whether its device counts.
  bool add_storage(const ValueStorage& found);

 private:
  struct KnownDevice {
    c10::Device device;
    DeviceId id;
    bool counts;
  };
  const KnownDevice& device_of(const ValueStorage& found);
  void add_counted(DeviceId device, const ValueStorage& found);
  void add_symbolic(DeviceId device, const ValueStorage& found);
  void describe_dimensions(const py::object& symbol, std::size_t known);
  std::int64_t ask(py::handle size_of, const ValueStorage& found) const;

  const ReadOptions& options_;
  GraphBuilder& builder_;
  std::vector<KnownDevice> devices_;
};

}  // namespace tidemark::fx
