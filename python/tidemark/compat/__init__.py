"""Drop-ins for PyTorch's own memory tools: the same names, the same answers, fewer surprises."""
