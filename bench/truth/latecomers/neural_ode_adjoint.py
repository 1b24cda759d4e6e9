"""A neural ODE image classifier in float: Runge-Kutta steps whose backward solves the adjoint equation, SGD."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, WIDTH, CLASSES, STEPS = 256, 64, 64, 10, 8


def rk4_step(f, t, dt, y):
    k1 = f(t, y)
    k2 = f(t + dt / 2, tuple(a + dt / 2 * k for a, k in zip(y, k1)))
    k3 = f(t + dt / 2, tuple(a + dt / 2 * k for a, k in zip(y, k2)))
    k4 = f(t + dt, tuple(a + dt * k for a, k in zip(y, k3)))
    return tuple(a + dt / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4))


def solve(f, y, start, end, steps):
    dt = (end - start) / steps
    for number in range(steps):
        y = rk4_step(f, start + number * dt, dt, y)
    return y


class AdjointSolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, *params):
        ctx.func = func
        with torch.no_grad():
            (y1,) = solve(lambda t, y: (func(t, y[0]),), (y0,), 0.0, 1.0, STEPS)
        ctx.save_for_backward(y1, *params)
        return y1

    @staticmethod
    def backward(ctx, grad_output):
        func = ctx.func
        y1, *params = ctx.saved_tensors

        def augmented(t, state):
            y, a = state[:2]
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                slope = func(t, y)
                grads = torch.autograd.grad(slope, (y, *params), -a)
            return slope.detach(), *grads

        state = (y1, grad_output, *(torch.zeros_like(p) for p in params))
        with torch.no_grad():
            _, a, *grads = solve(augmented, state, 1.0, 0.0, STEPS)
        return None, a, *grads


class Dynamics(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(min(32, width), width) for _ in range(3))
        self.conv1, self.conv2 = (nn.Conv2d(width + 1, width, 3, padding=1) for _ in range(2))

    def timed(self, conv, t, x):
        return conv(torch.cat((torch.full_like(x[:, :1], t), x), dim=1))

    def forward(self, t, x):
        x = self.timed(self.conv1, t, F.relu(self.norm1(x)))
        x = self.timed(self.conv2, t, F.relu(self.norm2(x)))
        return self.norm3(x)


class ODEClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(3, WIDTH, 3, padding=1), nn.GroupNorm(32, WIDTH), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 4, 2, 1)
        )
        self.dynamics = Dynamics(WIDTH)
        self.head = nn.Sequential(nn.GroupNorm(32, WIDTH), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classify = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = AdjointSolve.apply(self.dynamics, self.down(x), *self.dynamics.parameters())
        return self.classify(self.head(x))


torch.manual_seed(0)
device = torch.device("cuda")
model = ODEClassifier().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for step in range(3):
    images, labels = torch.randn(BATCH, 3, SIDE, SIDE).to(device), torch.randint(0, CLASSES, (BATCH,)).to(device)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
