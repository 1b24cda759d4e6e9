// Trains a small model in C++ and prints its own peak, by category.
#include <torch/torch.h>

#include <cstdio>
#include <string>

#include "tidemark/libtorch/recorder/live.h"

using namespace tidemark::recorder;

struct Net : torch::nn::Module {
  Net()
      : hidden(register_module("hidden", torch::nn::Linear(64, 256))),
        head(register_module("head", torch::nn::Linear(256, 10))) {}

  torch::Tensor forward(Live& live, torch::Tensor x) {
    ForwardScope net(live, "net", {x});
    {
      ForwardScope scope(live, "net.hidden", {x});
      x = scope.leave(torch::relu(hidden(x)));
    }
    ForwardScope scope(live, "net.head", {x});
    return net.leave(scope.leave(head(x)));
  }

  torch::nn::Linear hidden, head;
};

int main(int argc, char** argv) {
  torch::manual_seed(0);
  Net net;
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const torch::Tensor x = torch::randn({32, 64});
  const torch::Tensor y = torch::randint(10, {32});

  Live live(argc > 1 ? argv[1] : "");
  live.add_parameters("net.hidden", net.hidden->parameters());
  live.add_parameters("net.head", net.head->parameters());
  live.label({x, y}, tidemark::Category::Input);
  for (int step = 0; step < 2; ++step) {
    torch::nn::functional::cross_entropy(net.forward(live, x), y).backward();
    OptimizerScope scope(live);
    optimizer.step();
    for (const auto& [_, state] : optimizer.state())
      scope.state({static_cast<torch::optim::SGDParamState&>(*state).momentum_buffer()});
    optimizer.zero_grad();
  }
  for (const DeviceBytes& device : live.peak()) {
    std::printf("%s: peak %lld bytes\n", device.device.c_str(),
                static_cast<long long>(device.row.total));
    std::size_t slot = 0;
    for (const auto& one : tidemark::attribution::kMemTracker.categories())
      if (const std::int64_t bytes = device.row.bytes[slot++]; bytes != 0)
        std::printf("  %-15s %lld\n", std::string(name_of(one.category)).c_str(),
                    static_cast<long long>(bytes));
  }
}
