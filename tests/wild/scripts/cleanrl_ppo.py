"""cleanrl's idiom: PPO in one file, a numpy environment stepped on the CPU, `.item()`
everywhere."""

import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical

ENVS, STEPS, OBS, ACTIONS, WIDTH, EPOCHS, MINIBATCHES = 4, 16, 4, 2, 64, 2, 2
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Cart:
    """A pole's worth of physics: an action pushes, far from the middle the episode ends."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.normal(size=(ENVS, OBS)).astype(np.float32)
        return self.state

    def step(self, actions):
        push = np.where(actions == 1, 0.1, -0.1)[:, None].astype(np.float32)
        self.state = self.state + push * np.roll(self.state, 1, axis=1)
        done = np.abs(self.state).max(axis=1) > 3.0
        self.state[done] = 0.0
        return self.state, np.ones(ENVS, dtype=np.float32), done


def network(outputs, last_gain):
    layers = [nn.Linear(OBS, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = network(1, 1.0), network(ACTIONS, 0.01)

    def act(self, x, action=None):
        choice = Categorical(logits=self.actor(x))
        action = choice.sample() if action is None else action
        return action, choice.log_prob(action), choice.entropy(), self.critic(x)


torch.manual_seed(1)
envs, agent = Cart(1), Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
obs = torch.zeros((STEPS, ENVS, OBS)).to(device)
actions = torch.zeros((STEPS, ENVS)).to(device)
logprobs, rewards, dones, values = (torch.zeros((STEPS, ENVS)).to(device) for _ in range(4))
next_obs, next_done = torch.Tensor(envs.reset()).to(device), torch.zeros(ENVS).to(device)

for iteration in range(2):
    for step in range(STEPS):
        obs[step], dones[step] = next_obs, next_done
        with torch.no_grad():
            action, logprob, _, value = agent.act(next_obs)
        values[step], actions[step], logprobs[step] = value.flatten(), action, logprob
        seen, reward, done = envs.step(action.cpu().numpy())
        rewards[step] = torch.tensor(reward).to(device).view(-1)
        next_obs, next_done = torch.Tensor(seen).to(device), torch.Tensor(done).to(device)
    with torch.no_grad():
        next_value = agent.critic(next_obs).reshape(1, -1)
        advantages, last = torch.zeros_like(rewards).to(device), 0
        for t in reversed(range(STEPS)):
            alive = 1.0 - (next_done if t == STEPS - 1 else dones[t + 1])
            following = next_value if t == STEPS - 1 else values[t + 1]
            delta = rewards[t] + 0.99 * following * alive - values[t]
            advantages[t] = last = delta + 0.99 * 0.95 * alive * last
        returns = advantages + values
    flat_obs, flat_actions = obs.reshape(-1, OBS), actions.reshape(-1)
    flat_logprobs, flat_advantages, flat_returns = (
        t.reshape(-1) for t in (logprobs, advantages, returns))
    indices, clip_fractions = np.arange(STEPS * ENVS), []
    for epoch in range(EPOCHS):
        np.random.default_rng(epoch).shuffle(indices)
        for chosen in np.split(indices, MINIBATCHES):
            _, newlogprob, entropy, newvalue = agent.act(
                flat_obs[chosen], flat_actions.long()[chosen])
            logratio = newlogprob - flat_logprobs[chosen]
            ratio = logratio.exp()
            with torch.no_grad():
                approx_kl = ((ratio - 1) - logratio).mean()
                clip_fractions += [((ratio - 1.0).abs() > 0.2).float().mean().item()]
            advantage = flat_advantages[chosen]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            pg_loss = torch.max(-advantage * ratio, -advantage * torch.clamp(ratio, 0.8, 1.2)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - flat_returns[chosen]) ** 2).mean()
            loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
        if approx_kl > 10.0:
            break
    guessed, true = values.cpu().numpy(), returns.cpu().numpy()
    explained = 1 - np.var(true - guessed) / (np.var(true) or np.nan)
    print(f"iteration {iteration}: v_loss {v_loss.item():.3f} kl {approx_kl.item():.4f} "
          f"clip {np.mean(clip_fractions):.3f} explained {explained:.3f}")
