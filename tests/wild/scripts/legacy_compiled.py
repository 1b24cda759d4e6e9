"""The idiom of code that lived through many versions: `torch.cuda.FloatTensor`, Variable, then
torch.compile."""

import torch
import torch.nn as nn
from torch.autograd import Variable

use_cuda = torch.cuda.is_available()
FloatTensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor
LongTensor = torch.cuda.LongTensor if use_cuda else torch.LongTensor


class Highway(nn.Module):
    def __init__(self, size):
        super(Highway, self).__init__()
        self.plain, self.gate = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x):
        t = torch.sigmoid(self.gate(x))
        return t * torch.relu(self.plain(x)) + (1 - t) * x


torch.manual_seed(0)
model = nn.Sequential(Highway(256), Highway(256), nn.Linear(256, 5))
if use_cuda:
    model.cuda()
    model = torch.compile(model)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
running = FloatTensor(1).fill_(0)
for i in range(3):
    x = Variable(FloatTensor(32, 256).normal_(), requires_grad=True)
    y = Variable(LongTensor(32).random_(0, 5))
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    running += loss.data
    print("step %d, loss %.4f" % (i, loss.data.item()))
print("mean loss %.4f, input gradient %.4f" % (running.item() / 3, x.grad.data.norm().item()))
