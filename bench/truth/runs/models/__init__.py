"""Models that several of the runs train."""
