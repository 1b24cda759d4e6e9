"""The idiom of the DDP tutorial: `mp.spawn` of a rank per GPU, nccl, a DistributedSampler, rank
0 saves."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WIDTH = 512


class Trainer:
    def __init__(self, model, loader, optimizer, device):
        self.device, self.loader, self.optimizer = device, loader, optimizer
        self.model = DDP(model.to(device), device_ids=[device.index] if device.type == "cuda" else None)

    def _run_epoch(self, epoch):
        self.loader.sampler.set_epoch(epoch)
        for source, targets in self.loader:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(source.to(self.device)), targets.to(self.device))
            loss.backward()
            self.optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {mean.item() / dist.get_world_size():.4f}")

    def train(self, epochs):
        for epoch in range(epochs):
            self._run_epoch(epoch)
            if dist.get_rank() == 0:
                torch.save(self.model.module.state_dict(), "checkpoint.pt")
            dist.barrier()


def main(rank, world_size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "29513"
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(rank)
    dist.init_process_group("nccl" if on_gpu else "gloo", rank=rank, world_size=world_size)
    dataset = TensorDataset(torch.randn(64 * world_size, 64), torch.randint(10, (64 * world_size,)))
    loader = DataLoader(dataset, batch_size=32, shuffle=False, sampler=DistributedSampler(dataset))
    model = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                          nn.Linear(WIDTH, 10))
    Trainer(model, loader, torch.optim.SGD(model.parameters(), lr=1e-3), device).train(2)
    dist.destroy_process_group()


if __name__ == "__main__":
    world_size = torch.cuda.device_count() or 1
    mp.spawn(main, args=(world_size,), nprocs=world_size, join=True)
