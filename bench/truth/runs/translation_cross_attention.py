"""torch's own nn.Transformer in float with causal and padding masks, label smoothing, AdamW fused."""

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH = 32000, 768


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.places = nn.Embedding(256, WIDTH)
        self.body = nn.Transformer(WIDTH, 12, 6, 6, 3072, 0.1, batch_first=True, norm_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def embedded(self, tokens):
        return self.embed(tokens) * WIDTH ** 0.5 + self.places.weight[: tokens.shape[1]]

    def forward(self, source, target):
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        padding = torch.zeros(source.shape, device=source.device).masked_fill(source == 0, float("-inf"))
        out = self.body(self.embedded(source), self.embedded(target), tgt_mask=causal,
                        src_key_padding_mask=padding, memory_key_padding_mask=padding)
        return self.head(out)


torch.manual_seed(0)
device = "cuda"
model = Translator().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)

for step in range(4):
    source = torch.randint(1, VOCABULARY, (24, 160), device=device)
    source[:, 140:] = 0
    target = torch.randint(1, VOCABULARY, (24, 129), device=device)
    optimizer.zero_grad()
    logits = model(source, target[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), target[:, 1:].reshape(-1), ignore_index=0,
                           label_smoothing=0.1)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(f"{step} {loss.item():.4f}")
