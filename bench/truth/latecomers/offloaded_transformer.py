"""A masked language model in bfloat16: activations saved in pinned host memory, AdamW for each weight in backward."""

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LAYERS, LENGTH, BATCH, MASK = 30522, 1024, 16, 12, 512, 16, 103


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                WIDTH, HEADS, 4 * WIDTH, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(LAYERS)
        )
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.size(1), device=ids.device))
        for layer in self.layers:
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                x = layer(x)
        return self.head(self.norm(x))


def step_in_backward(model, **options):
    optimizers = {p: torch.optim.AdamW([p], **options) for p in model.parameters()}

    def hook(parameter):
        optimizers[parameter].step()
        parameter.grad = None

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(hook)
    return optimizers


torch.manual_seed(0)
model = Encoder().to("cuda", torch.bfloat16)
optimizers = step_in_backward(model, lr=1e-4, weight_decay=0.01)

model.train()
for step in range(3):
    labels = torch.randint(0, WORDS, (BATCH, LENGTH), device="cuda")
    hidden = torch.rand(BATCH, LENGTH, device="cuda") < 0.15
    ids = labels.masked_fill(hidden, MASK)
    logits = model(ids)
    loss = F.cross_entropy(logits.view(-1, WORDS), labels.masked_fill(~hidden, -100).view(-1))
    loss.backward()
    del logits
print(f"loss {loss.item():.4f}")
