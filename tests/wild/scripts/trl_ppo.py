"""TRL's idiom: sampled responses, a frozen deep copy of the policy as reference, PPO with a
value head."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, LAYERS, PROMPT, ANSWER, BATCH = 256, 128, 2, 16, 8, 8
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.lm_head, self.v_head = nn.Linear(WIDTH, VOCAB, bias=False), nn.Linear(WIDTH, 1)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1), device=ids.device)
        hidden = self.body(self.embed(ids), mask=mask, is_causal=True)
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


@torch.no_grad()
def generate(model, ids):
    for _ in range(ANSWER):
        logits, _ = model(ids)
        ids = torch.cat([ids, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
    return ids


def logprobs_of(model, ids):
    logits, values = model(ids)
    picked = F.log_softmax(logits[:, :-1], dim=-1).gather(2, ids[:, 1:, None]).squeeze(-1)
    return picked[:, -ANSWER:], values[:, -ANSWER:]


def advantages_of(rewards, values, gamma=1.0, lam=0.95):
    last, reversed_advantages = 0, []
    for t in reversed(range(ANSWER)):
        following = values[:, t + 1] if t < ANSWER - 1 else 0.0
        last = rewards[:, t] + gamma * following - values[:, t] + gamma * lam * last
        reversed_advantages.append(last)
    return torch.stack(reversed_advantages[::-1], dim=1)


torch.manual_seed(0)
model = Policy().to(device)
ref_model = copy.deepcopy(model).eval()
for parameter in ref_model.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)

for rollout in range(2):
    queries = torch.randint(VOCAB, (BATCH, PROMPT), device=device)
    responses = generate(model, queries)
    variety = [len(set(answer.tolist())) / ANSWER for answer in responses[:, PROMPT:]]
    scores = torch.tensor(variety, device=device)
    with torch.no_grad():
        old_logprobs, old_values = logprobs_of(model, responses)
        ref_logprobs, _ = logprobs_of(ref_model, responses)
        rewards = -0.2 * (old_logprobs - ref_logprobs)
        rewards[:, -1] += scores
        advantages = advantages_of(rewards, old_values)
        returns = advantages + old_values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for batch in torch.randperm(BATCH).chunk(2):
        logprobs, values = logprobs_of(model, responses[batch])
        ratio = torch.exp(logprobs - old_logprobs[batch])
        policy_loss = torch.max(-advantages[batch] * ratio,
                                -advantages[batch] * ratio.clamp(0.8, 1.2)).mean()
        value_loss = 0.5 * (values - returns[batch]).pow(2).mean()
        loss = policy_loss + 0.1 * value_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if torch.isnan(loss):
            raise RuntimeError("the loss is not a number")
    print(f"rollout {rollout}: loss {loss.item():.4f} score {scores.mean().item():.3f}")
