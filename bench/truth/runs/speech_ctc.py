"""Speech recognition under float16 autocast with GradScaler: 1-D convolutions, transformer, CTC, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn

SIZES = ((512, 10, 5), (512, 3, 2), (512, 3, 2), (512, 3, 2), (512, 3, 2), (512, 2, 2), (512, 2, 2))


class FrontEnd(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, width = nn.ModuleList(), 1
        for after, kernel, stride in SIZES:
            self.layers.append(nn.Conv1d(width, after, kernel, stride, bias=False))
            width = after
        self.norm = nn.GroupNorm(512, 512)

    def forward(self, wave):
        x = F.gelu(self.norm(self.layers[0](wave[:, None])))
        for layer in self.layers[1:]:
            x = F.gelu(layer(x))
        return x


class Recognizer(nn.Module):
    def __init__(self, width=768, layers=12, letters=32):
        super().__init__()
        self.front = FrontEnd()
        self.norm, self.project = nn.LayerNorm(512), nn.Linear(512, width)
        self.place = nn.Conv1d(width, width, 128, padding=64, groups=16)
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, 0.1, F.gelu, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, letters)

    def forward(self, wave):
        x = self.project(self.norm(self.front(wave).transpose(1, 2)))
        x = x + F.gelu(self.place(x.transpose(1, 2))[..., :-1]).transpose(1, 2)
        return self.head(self.encoder(x))


torch.manual_seed(0)
model = Recognizer().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
scaler = torch.amp.GradScaler("cuda", init_scale=16.0)

for step in range(4):
    wave = torch.randn(8, 160000, device="cuda")
    letters = torch.randint(1, 32, (8, 120), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        log_probabilities = model(wave).log_softmax(-1).transpose(0, 1)
    frames = torch.full((8,), log_probabilities.shape[0])
    loss = F.ctc_loss(log_probabilities, letters, frames, torch.full((8,), 120), zero_infinity=True)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss {loss.item():.3f}")
