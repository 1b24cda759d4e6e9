"""The idiom of long contexts: activation checkpointing, and saved tensors that wait on the CPU."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import save_on_cpu
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

WIDTH, LAYERS, BATCH, LENGTH = 128, 6, 4, 256
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.dropout(F.gelu(self.up(self.norm(x))), 0.1, self.training))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.out = nn.ModuleList(Layer() for _ in range(LAYERS)), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, way):
        if way == "checkpoint":
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False)
        elif way == "segments":
            x = checkpoint_sequential(nn.Sequential(*self.layers), 2, x, use_reentrant=False)
        else:
            with save_on_cpu(pin_memory=device.type == "cuda"):
                for layer in self.layers:
                    x = layer(x)
        return self.out(x)


torch.manual_seed(0)
model = Model().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for way in ("checkpoint", "segments", "offload", "checkpoint"):
    x = torch.randn(BATCH, LENGTH, WIDTH, device=device, requires_grad=True)
    loss = F.mse_loss(model(x, way), torch.zeros_like(x))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"{way}: loss {loss.item():.4f}")
