"""PyTorch's own memory tools under their own names, on Tidemark's engine."""
