"""Self-supervised speech in float: strided convolutions on raw audio, masked spans, a transformer, contrast, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

BATCH, SAMPLES, CHANNELS, WIDTH, HEADS, LAYERS = 6, 160_000, 512, 512, 8, 6
SPANS, SPAN, NEGATIVES, TEMPERATURE = 12, 10, 50, 0.1
KERNELS, STRIDES = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)


class FeatureEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        layers, before = [], 1
        for number, (kernel, stride) in enumerate(zip(KERNELS, STRIDES)):
            layers.append(nn.Conv1d(before, CHANNELS, kernel, stride, bias=False))
            if number == 0:
                layers.append(nn.GroupNorm(CHANNELS, CHANNELS))
            layers.append(nn.GELU())
            before = CHANNELS
        self.layers = nn.Sequential(*layers)

    def forward(self, wave):
        return self.layers(wave.unsqueeze(1)).transpose(1, 2)


class PositionalConv(nn.Module):
    def __init__(self, kernel=128, groups=16):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(WIDTH, WIDTH, kernel, padding=kernel // 2, groups=groups), dim=2)

    def forward(self, x):
        return F.gelu(self.conv(x.transpose(1, 2))[:, :, :-1]).transpose(1, 2)


class SpeechModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.norm = FeatureEncoder(), nn.LayerNorm(CHANNELS)
        self.project, self.target = nn.Linear(CHANNELS, WIDTH), nn.Linear(CHANNELS, 256)
        self.mask = nn.Parameter(torch.rand(WIDTH))
        self.places, self.places_norm = PositionalConv(), nn.LayerNorm(WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.1, "gelu", batch_first=True)
        self.context = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.final = nn.Linear(WIDTH, 256)

    def forward(self, wave):
        features = self.norm(self.encoder(wave))
        batch, length, _ = features.shape
        rows, steps = torch.arange(batch, device=wave.device)[:, None], length // SPANS
        starts = torch.arange(SPANS, device=wave.device) * steps
        starts = starts + torch.randint(0, steps - SPAN, (batch, SPANS), device=wave.device)
        masked = (starts[:, :, None] + torch.arange(SPAN, device=wave.device)).flatten(1)
        x = F.dropout(self.project(features), 0.1, self.training)
        x = x.index_put((rows.expand_as(masked), masked), self.mask)
        x = self.context(self.places_norm(x + self.places(x)))
        guesses, targets = self.final(x[rows, masked]), self.target(features[rows, masked])
        others = torch.randint(0, SPANS * SPAN - 1, (batch, SPANS * SPAN, NEGATIVES), device=wave.device)
        others = others + (others >= torch.arange(SPANS * SPAN, device=wave.device)[:, None])
        negatives = targets[rows[:, :, None], others]
        candidates = torch.cat((targets.unsqueeze(2), negatives), dim=2)
        logits = F.cosine_similarity(guesses.unsqueeze(2), candidates, dim=-1) / TEMPERATURE
        right = torch.zeros(batch * SPANS * SPAN, dtype=torch.long, device=wave.device)
        return F.cross_entropy(logits.flatten(0, 1), right) + 0.01 * features.pow(2).mean()


torch.manual_seed(0)
model = SpeechModel().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)

for step in range(3):
    wave = torch.randn(BATCH, SAMPLES)
    wave = ((wave - wave.mean(1, keepdim=True)) / wave.std(1, keepdim=True)).to("cuda")
    loss = model(wave)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print(f"loss {loss.item():.4f}")
