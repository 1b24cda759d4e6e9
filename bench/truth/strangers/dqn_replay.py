"""Deep Q-learning on pixels in float: a replay buffer of bytes on the host, a target network, smooth L1, RMSprop."""

import copy
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

BATCH, MOVES = 1024, 6


class Replay:
    def __init__(self, room):
        self.frames = np.zeros((room, 4, 84, 84), dtype=np.uint8)
        self.moves = np.zeros(room, dtype=np.int64)
        self.rewards = np.zeros(room, dtype=np.float32)
        self.room, self.filled = room, 0

    def push(self, frame, move, reward):
        at = self.filled % self.room
        self.frames[at], self.moves[at], self.rewards[at] = frame, move, reward
        self.filled += 1

    def sample(self, count, device):
        picked = np.random.randint(0, min(self.filled, self.room) - 1, count)
        return (torch.from_numpy(self.frames[picked]).to(device), torch.from_numpy(self.moves[picked]).to(device),
                torch.from_numpy(self.rewards[picked]).to(device), torch.from_numpy(self.frames[picked + 1]).to(device))


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(),
            nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3136, 2048), nn.ReLU())
        self.value, self.advantage = nn.Linear(2048, 1), nn.Linear(2048, MOVES)

    def forward(self, x):
        hidden = self.network(x / 255.0)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(1, keepdim=True)


torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
device = torch.device("cuda")
network = QNetwork().to(device)
target = copy.deepcopy(network).requires_grad_(False)
optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-4, alpha=0.95, eps=0.01, centered=True)
replay = Replay(3000)

frame = np.zeros((4, 84, 84), dtype=np.uint8)
for step in range(2000):
    if random.random() < 0.9:
        move = random.randrange(MOVES)
    else:
        with torch.no_grad():
            move = network(torch.as_tensor(frame, device=device).unsqueeze(0)).argmax(1).item()
    frame = np.roll(frame, 1, axis=0)
    frame[0] = np.random.randint(0, 256, (84, 84), dtype=np.uint8)
    replay.push(frame, move, float(step % 7 == 0))
    if step >= 1500 and step % 100 == 0:
        before, moves, rewards, after = replay.sample(BATCH, device)
        with torch.no_grad():
            best = network(after).argmax(1, keepdim=True)
            aim = rewards + 0.99 * target(after).gather(1, best).squeeze(1)
        now = network(before).gather(1, moves.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(now, aim)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(network.parameters(), 1.0)
        optimizer.step()
        target.load_state_dict(network.state_dict())
        print(f"{step}: {loss.item():.5f}")
