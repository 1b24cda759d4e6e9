"""Meta-learning by gradients of gradients in float: three inner steps of a conv net through functional_call, AdamW."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

TASKS, WAYS, SHOTS, SIDE = 2, 5, 15, 84


def block(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after, track_running_stats=False),
                         nn.ReLU(), nn.MaxPool2d(2))


torch.manual_seed(0)
model = nn.Sequential(block(3, 64), block(64, 64), block(64, 64), block(64, 64), nn.Flatten(), nn.LazyLinear(WAYS))
model = model.cuda()
model(torch.zeros(2, 3, SIDE, SIDE, device="cuda"))
rates = nn.ParameterDict({name.replace(".", "_"): nn.Parameter(torch.full_like(weights, 0.01))
                          for name, weights in model.named_parameters()})
optimizer = torch.optim.AdamW([*model.parameters(), *rates.parameters()], lr=1e-3)

for step in range(3):
    optimizer.zero_grad()
    of_tasks = []
    for _ in range(TASKS):
        shown, asked = (torch.randn(WAYS * SHOTS, 3, SIDE, SIDE, device="cuda") for _ in range(2))
        answers = torch.arange(WAYS, device="cuda").repeat_interleave(SHOTS)
        weights = dict(model.named_parameters())
        for _ in range(3):
            loss = F.cross_entropy(functional_call(model, weights, (shown,)), answers)
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: each - rates[name.replace(".", "_")] * slope
                       for (name, each), slope in zip(weights.items(), slopes)}
        of_tasks.append(F.cross_entropy(functional_call(model, weights, (asked,)), answers))
    total = torch.stack(of_tasks).mean()
    total.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    print(f"step {step}: {total.item():.4f}")
