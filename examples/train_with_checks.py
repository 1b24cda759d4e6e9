"""A loop that looks at its values: .item(), .cpu(), print(loss), NaN checks, memory statistics."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def check_gradients(model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        if torch.isnan(parameter.grad).any() or not torch.isfinite(parameter.grad).all():
            raise RuntimeError(f"the gradient of {name} is broken")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()

    torch.cuda.reset_peak_memory_stats()
    model = nn.Sequential(nn.Linear(args.width, 4 * args.width), nn.Tanh(),
                          nn.Linear(4 * args.width, args.width), nn.Tanh(),
                          nn.Linear(args.width, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best, losses = math.inf, []
    for step in range(args.steps):
        x = torch.randn(args.batch, args.width, device="cuda")
        labels = torch.randint(0, 10, (args.batch,), device="cuda")
        logits = model(x)
        loss = F.cross_entropy(logits, labels)
        if math.isnan(loss.item()) or loss.isnan():
            raise RuntimeError(f"the loss of step {step} is not a number")
        print(loss)
        optimizer.zero_grad()
        loss.backward()
        check_gradients(model)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()

        losses.append(loss.detach().cpu())
        best = min(best, float(loss))
        accuracy = (logits.argmax(dim=-1) == labels).float().mean().item()
        print(f"step {step}: loss {loss.item():.3f} (best {best:.3f}), accuracy {accuracy:.2f}, "
              f"gradient norm {norm.item():.2f}, first logits {logits[0, :3].tolist()}")
        torch.cuda.synchronize()
        print(f"  {torch.cuda.memory_allocated() / 2**20:.1f} MiB now, "
              f"{torch.cuda.max_memory_allocated() / 2**20:.1f} MiB at the peak")
    print(f"mean loss {torch.stack(losses).numpy().mean():.3f}")


if __name__ == "__main__":
    main()
