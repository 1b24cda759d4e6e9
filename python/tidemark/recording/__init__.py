"""Follows the memory of a live program: module calls, phases and categories of every storage."""
