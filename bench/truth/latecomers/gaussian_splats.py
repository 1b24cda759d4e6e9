"""An image fitted by 2-D Gaussians in float: sorted alpha compositing, L1 and SSIM, Adam, and a pruning to a top-k."""

import torch
import torch.nn.functional as F
from torch import nn

SIDE, COUNT, KEPT, CHUNK, WINDOW = 192, 1024, 640, 4096, 11


def splat(pixels, splats):
    order = splats["means"][:, 2].argsort()
    x, y, _ = splats["means"][order].unbind(-1)
    across, along = splats["scales"][order].exp().unbind(-1)
    cos, sin = splats["rotations"][order].cos(), splats["rotations"][order].sin()
    opacities, colours = splats["opacities"][order].sigmoid(), splats["colours"][order].sigmoid()
    picture = []
    for some in pixels.split(CHUNK):
        dx, dy = some[:, :1] - x, some[:, 1:] - y
        u, v = (cos * dx + sin * dy) / across, (cos * dy - sin * dx) / along
        alpha = (opacities * torch.exp(-0.5 * (u * u + v * v))).clamp(max=0.99)
        behind = torch.cumprod(1 - alpha, dim=1)
        weights = alpha * F.pad(behind[:, :-1], (1, 0), value=1.0)
        picture.append(weights @ colours + behind[:, -1:])
    return torch.cat(picture).view(SIDE, SIDE, 3).permute(2, 0, 1)[None]


def similarity(a, b):
    ramp = torch.arange(WINDOW, device=a.device) - WINDOW // 2
    bell = torch.exp(-(ramp**2) / (2 * 1.5**2))
    bell = bell / bell.sum()
    window = torch.outer(bell, bell).expand(3, 1, WINDOW, WINDOW).contiguous()

    def blur(x):
        return F.conv2d(x, window, padding=WINDOW // 2, groups=3)

    mean_a, mean_b = blur(a), blur(b)
    var_a, var_b = blur(a * a) - mean_a**2, blur(b * b) - mean_b**2
    both = blur(a * b) - mean_a * mean_b
    above = (2 * mean_a * mean_b + 0.01**2) * (2 * both + 0.03**2)
    below = (mean_a**2 + mean_b**2 + 0.01**2) * (var_a + var_b + 0.03**2)
    return (above / below).mean()


def prune(splats, optimizer):
    keep = splats["opacities"].detach().topk(KEPT).indices
    for group in optimizer.param_groups:
        old = group["params"][0]
        state = optimizer.state.pop(old)
        state["exp_avg"], state["exp_avg_sq"] = state["exp_avg"][keep], state["exp_avg_sq"][keep]
        new = nn.Parameter(old.detach()[keep])
        group["params"][0] = splats[group["name"]] = new
        optimizer.state[new] = state


torch.manual_seed(0)
line = torch.linspace(-1, 1, SIDE, device="cuda")
pixels = torch.stack(torch.meshgrid(line, line, indexing="xy"), dim=-1).view(-1, 2)
target = 0.5 + 0.5 * torch.sin(5 * pixels.view(SIDE, SIDE, 2).norm(dim=-1) + torch.rand(3, 1, 1, device="cuda"))[None]
splats = {
    "means": nn.Parameter(torch.rand(COUNT, 3, device="cuda") * 2 - 1),
    "scales": nn.Parameter(torch.full((COUNT, 2), -2.5, device="cuda")),
    "rotations": nn.Parameter(torch.rand(COUNT, device="cuda") * torch.pi),
    "colours": nn.Parameter(torch.randn(COUNT, 3, device="cuda")),
    "opacities": nn.Parameter(torch.randn(COUNT, device="cuda")),
}
rates = {"means": 2e-3, "scales": 5e-3, "rotations": 1e-3, "colours": 2.5e-2, "opacities": 5e-2}
optimizer = torch.optim.Adam([{"params": [splats[n]], "lr": lr, "name": n} for n, lr in rates.items()], eps=1e-15)

for step in range(1, 4):
    picture = splat(pixels, splats)
    loss = 0.8 * F.l1_loss(picture, target) + 0.2 * (1 - similarity(picture, target))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step == 2:
        prune(splats, optimizer)
print(f"loss {loss.item():.5f}")
