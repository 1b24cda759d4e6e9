// Scopes of C++ programs, told to a tracker.
#include "tidemark/libtorch/recorder/live.h"

#include "tidemark/libtorch/recorder/recorder.h"

namespace tidemark::recorder {
namespace {

TrackerOptions options_for(const std::string& tape) {
  TrackerOptions options;
  options.tape = tape;
  options.rules.recompute_by_grad_mode = true;
  options.rules.count_outside_operators = true;
  options.rules.counts_blocks = true;
  return options;
}

std::vector<DeviceBytes> named(const Rows& rows) {
  std::vector<DeviceBytes> all;
  for (std::size_t number = 0; number < rows.size(); ++number)
    if (rows[number].total != 0)
      all.push_back(
          {Recorder::instance().device_name(static_cast<std::uint8_t>(number)), rows[number]});
  return all;
}

}  // namespace

Live::Live(const std::string& tape) : tracker_(std::make_shared<Tracker>(options_for(tape))) {
  tracker_->start();
}

Live::~Live() {
  try_to([&] {
    for (const HookedParameter& one : hooked_) one.parameter.remove_hook(one.hook);
    tracker_->stop();
  });
}

ModuleNumber Live::number_of(const std::string& module) {
  const auto [known, is_new] = modules_.try_emplace(module, 0);
  if (is_new) {
    known->second = tracker_->add_module();
    tracker_->set_name(known->second, module);
  }
  return known->second;
}

void Live::add_parameters(const std::string& module, const std::vector<at::Tensor>& parameters) {
  tracker_->set_owner(module);
  label(parameters, Category::Parameter);
  tracker_->set_owner("");
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    const unsigned hook = parameter.register_hook([tracker = tracker_](at::Tensor gradient) {
      try {
        tracker->label(gradient, Category::Gradient);
      } catch (const std::exception& error) {
        tracker->give_up(error.what());
      }
    });
    hooked_.push_back({parameter, hook});
  }
}

void Live::add_buffers(const std::string& module, const std::vector<at::Tensor>& buffers) {
  tracker_->set_owner(module);
  label(buffers, Category::Buffer);
  tracker_->set_owner("");
}

void Live::label(const std::vector<at::Tensor>& tensors, Category category) {
  tracker_->label(tensors, category);
}

std::vector<DeviceBytes> Live::current() const { return named(tracker_->current()); }
std::vector<DeviceBytes> Live::peak() const { return named(tracker_->peak()); }
void Live::finish() { tracker_->finish(); }

ForwardScope::ForwardScope(Live& live, const std::string& module,
                           const std::vector<at::Tensor>& inputs)
    : live_(live), module_(live.number_of(module)) {
  live_.tracker_->begin_forward(module_, inputs);
}

ForwardScope::~ForwardScope() {
  live_.try_to([&] { live_.tracker_->end_forward(module_, outputs_, false); });
}

at::Tensor ForwardScope::leave(at::Tensor output) {
  outputs_.push_back(output);
  return output;
}

OptimizerScope::OptimizerScope(Live& live) : live_(live) { live_.tracker_->begin_optimizer(); }
OptimizerScope::~OptimizerScope() {
  live_.try_to([&] { live_.tracker_->end_optimizer(); });
}
void OptimizerScope::state(const std::vector<at::Tensor>& tensors) {
  live_.label(tensors, Category::OptimizerState);
}

}  // namespace tidemark::recorder
