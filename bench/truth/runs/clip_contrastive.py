"""Images and texts matched as by CLIP in float16 autocast with GradScaler: two towers, AdamW with two groups."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BATCH = 512, 128


class Tower(nn.Module):
    def __init__(self, length, layers):
        super().__init__()
        self.places = nn.Parameter(torch.randn(length, WIDTH) * 0.01)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, 0.0, F.gelu, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.project = nn.Linear(WIDTH, 512, bias=False)

    def forward(self, x, **masks):
        x = self.layers(x + self.places, **masks)
        return F.normalize(self.project(x.mean(1)), dim=-1)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.words = nn.Conv2d(3, WIDTH, 16, 16, bias=False), nn.Embedding(49408, WIDTH)
        self.image, self.text = Tower(196, 12), Tower(77, 8)
        self.scale = nn.Parameter(torch.tensor(2.66))

    def forward(self, images, texts):
        causal = nn.Transformer.generate_square_subsequent_mask(77, device=texts.device)
        left = self.image(self.patches(images).flatten(2).transpose(1, 2))
        right = self.text(self.words(texts), mask=causal, is_causal=True)
        return self.scale.exp() * left @ right.t()


torch.manual_seed(0)
model = Matcher().to("cuda")
decayed = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.2}, {"params": plain, "weight_decay": 0.0}])
scaler = torch.amp.GradScaler("cuda", init_scale=128.0)

for step in range(4):
    images = torch.randn(BATCH, 3, 224, 224, device="cuda")
    texts = torch.randint(0, 49408, (BATCH, 77), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(images, texts)
        answer = torch.arange(BATCH, device="cuda")
        loss = (F.cross_entropy(logits, answer) + F.cross_entropy(logits.t(), answer)) / 2
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item())
