"""A masked autoencoder under float16 autocast with GradScaler: argsort, gather, two stacks, AdamW fused."""

import torch
import torch.nn.functional as F
from torch import nn

PATCH, SIDE, KEPT = 16, 224, 49
COUNT = (SIDE // PATCH) ** 2


def stack(width, heads, layers):
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)


class Autoencoder(nn.Module):
    def __init__(self, width=1024, narrow=512):
        super().__init__()
        self.embed = nn.Linear(3 * PATCH * PATCH, width)
        self.places = nn.Parameter(torch.randn(1, COUNT, width) * 0.02)
        self.encoder, self.decoder = stack(width, 16, 12), stack(narrow, 16, 4)
        self.narrow = nn.Linear(width, narrow)
        self.blank = nn.Parameter(torch.zeros(1, 1, narrow))
        self.narrow_places = nn.Parameter(torch.randn(1, COUNT, narrow) * 0.02)
        self.predict = nn.Linear(narrow, 3 * PATCH * PATCH)

    def forward(self, images):
        batch = images.shape[0]
        patches = F.unfold(images, PATCH, stride=PATCH).transpose(1, 2)
        order = torch.rand(batch, COUNT, device=images.device).argsort(dim=1)
        back = order.argsort(dim=1)
        x = self.embed(patches) + self.places
        x = torch.gather(x, 1, order[:, :KEPT, None].expand(-1, -1, x.shape[-1]))
        x = self.narrow(self.encoder(x))
        x = torch.cat((x, self.blank.expand(batch, COUNT - KEPT, -1).to(x.dtype)), dim=1)
        x = torch.gather(x, 1, back[:, :, None].expand(-1, -1, x.shape[-1])) + self.narrow_places
        wrong = (self.predict(self.decoder(x)).float() - patches).pow(2).mean(-1)
        hidden = (back >= KEPT).float()
        return (wrong * hidden).sum() / hidden.sum()


torch.manual_seed(0)
model = Autoencoder().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-4, betas=(0.9, 0.95), fused=True)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)

for step in range(4):
    images = torch.randn(96, 3, SIDE, SIDE, device="cuda")
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(images)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step}: {loss.item():.4f}")
