"""Proximal policy optimisation over 4 096 games at once in float: rollouts without gradients, epochs of minibatches, Adam."""

import torch
from torch import nn
from torch.distributions import Categorical

GAMES, STEPS, SEEN, MOVES = 4096, 64, 512, 18


def layer(before, after, gain=2**0.5):
    made = nn.Linear(before, after)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.trunk = nn.Sequential(layer(SEEN, width), nn.Tanh(), layer(width, width), nn.Tanh())
        self.actor, self.critic = layer(width, MOVES, 0.01), layer(width, 1, 1.0)

    def get_value(self, x):
        return self.critic(self.trunk(x))

    def get_action_and_value(self, x, action=None):
        hidden = self.trunk(x)
        odds = Categorical(logits=self.actor(hidden))
        if action is None:
            action = odds.sample()
        return action, odds.log_prob(action), odds.entropy(), self.critic(hidden)


torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
dynamics = torch.randn(SEEN, SEEN, device=device) / SEEN**0.5

seen = torch.zeros((STEPS, GAMES, SEEN), device=device)
actions, logprobs, rewards, dones, values = (torch.zeros((STEPS, GAMES), device=device) for _ in range(5))
now, done = torch.randn(GAMES, SEEN, device=device), torch.zeros(GAMES, device=device)

for update in range(2):
    for t in range(STEPS):
        seen[t], dones[t] = now, done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(now)
            values[t] = value.flatten()
        actions[t], logprobs[t] = action, logprob
        now = torch.tanh(now @ dynamics)
        rewards[t] = now[:, 0]
        done = (torch.rand(GAMES, device=device) < 0.01).float()
    with torch.no_grad():
        following, advantages, last = agent.get_value(now).reshape(1, -1), torch.zeros_like(rewards), 0
        for t in reversed(range(STEPS)):
            going_on = 1.0 - (done if t == STEPS - 1 else dones[t + 1])
            later = following if t == STEPS - 1 else values[t + 1]
            advantages[t] = last = rewards[t] + 0.99 * later * going_on - values[t] + 0.99 * 0.95 * going_on * last
        returns = advantages + values
    flat_seen, flat_actions = seen.reshape(-1, SEEN), actions.reshape(-1)
    flat_logprobs, flat_advantages, flat_returns = logprobs.reshape(-1), advantages.reshape(-1), returns.reshape(-1)
    for epoch in range(2):
        order = torch.randperm(STEPS * GAMES, device=device)
        for start in range(0, STEPS * GAMES, STEPS * GAMES // 4):
            picked = order[start:start + STEPS * GAMES // 4]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(flat_seen[picked], flat_actions.long()[picked])
            ratio = (newlogprob - flat_logprobs[picked]).exp()
            some = flat_advantages[picked]
            some = (some - some.mean()) / (some.std() + 1e-8)
            gain = torch.max(-some * ratio, -some * torch.clamp(ratio, 0.8, 1.2)).mean()
            loss = gain - 0.01 * entropy.mean() + 0.5 * 0.5 * ((newvalue.view(-1) - flat_returns[picked]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print(f"update {update}: loss {loss.item():.4f}")
