"""A physics-informed net in double precision: second derivatives by gradients of gradients, Adam, then LBFGS."""

import torch
from torch import nn

INSIDE, EDGE = 200_000, 20_000


class Net(nn.Module):
    def __init__(self, width=96, layers=5):
        super().__init__()
        sizes = [2] + [width] * layers + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        for layer in self.layers:
            nn.init.xavier_normal_(layer.weight)

    def forward(self, x, t):
        hidden = torch.cat([x, t], dim=1)
        for layer in self.layers[:-1]:
            hidden = torch.tanh(layer(hidden))
        return self.layers[-1](hidden)


def slope(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True, retain_graph=True)[0]


torch.set_default_dtype(torch.float64)
torch.manual_seed(1234)
device = torch.device("cuda")
net = Net().to(device)
x = (torch.rand(INSIDE, 1) * 2 - 1).to(device).requires_grad_()
t = torch.rand(INSIDE, 1).to(device).requires_grad_()
x0 = (torch.rand(EDGE, 1) * 2 - 1).to(device)
u0 = -torch.sin(torch.pi * x0)


def loss_of():
    u = net(x, t)
    u_t, u_x = slope(u, t), slope(u, x)
    equation = u_t + u * u_x - 0.01 / torch.pi * slope(u_x, x)
    start = net(x0, torch.zeros_like(x0)) - u0
    return (equation**2).mean() + (start**2).mean()


adam = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    adam.zero_grad()
    loss = loss_of()
    loss.backward()
    adam.step()
    print(f"adam {step}: {loss.item():.5f}")

lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=3, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    loss = loss_of()
    loss.backward()
    return loss


print(f"lbfgs: {lbfgs.step(closure).item():.5f}")
