"""diffusers' idiom: a small UNet under a noise schedule, an averaged copy of it, sampling at the
end."""

import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

SCALE = int(os.environ.get("WILD_SCALE", "1"))
WIDTH, STEPS, BATCH, SIDE = 32 * SCALE, 100, 8 * SCALE, 32
device = "cuda" if torch.cuda.is_available() else "cpu"


class ResBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(4 * WIDTH, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(8, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(emb))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.skip(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.SiLU(),
                                   nn.Linear(4 * WIDTH, 4 * WIDTH))
        self.first = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.down = ResBlock(WIDTH, 2 * WIDTH)
        self.middle = ResBlock(2 * WIDTH, 2 * WIDTH)
        self.up = ResBlock(3 * WIDTH, WIDTH)
        self.last = nn.Conv2d(WIDTH, 3, 3, padding=1)

    def forward(self, x, t):
        frequencies = torch.exp(-9.2 * torch.arange(WIDTH // 2, device=x.device) / (WIDTH // 2))
        angles = t[:, None].float() * frequencies
        emb = self.embed(torch.cat([angles.sin(), angles.cos()], dim=1))
        high = self.first(x)
        low = self.middle(self.down(F.avg_pool2d(high, 2), emb), emb)
        low = F.interpolate(low, scale_factor=2.0, mode="nearest")
        return self.last(self.up(torch.cat([low, high], dim=1), emb))


torch.manual_seed(0)
betas = torch.linspace(1e-4, 0.02, STEPS)
alphas_cumprod = torch.cumprod(1 - betas, dim=0).to(device)
unet = UNet().to(device)
ema = AveragedModel(unet, multi_avg_fn=get_ema_multi_avg_fn(0.999))
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))

for step in range(3):
    images = torch.rand(BATCH, 3, SIDE, SIDE).to(device) * 2 - 1
    noise = torch.randn_like(images)
    t = torch.randint(0, STEPS, (BATCH,), device=device).long()
    kept = alphas_cumprod[t][:, None, None, None]
    noisy = kept.sqrt() * images + (1 - kept).sqrt() * noise
    loss = F.mse_loss(unet(noisy, t), noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    ema.update_parameters(unet)
    print(f"step {step}: loss {loss.detach().item():.4f} lr {schedule.get_last_lr()[0]:.2e}")

with torch.inference_mode():
    sample = torch.randn(2, 3, SIDE, SIDE, device=device)
    for t in reversed(range(0, STEPS, 25)):
        guess = ema(sample, torch.full((2,), t, device=device))
        a = alphas_cumprod[t]
        clean = ((sample - (1 - a).sqrt() * guess) / a.sqrt()).clamp(-1, 1)
        sample = a.sqrt() * clean + (1 - a).sqrt() * torch.randn_like(sample)
image = ((sample + 1) * 127.5).clamp(0, 255).to(torch.uint8).cpu().permute(0, 2, 3, 1).numpy()
image.tofile("sample.raw")
torch.save(ema.module.state_dict(), "unet_ema.pt")
