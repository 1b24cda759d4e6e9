"""What the reports of estimates and of recorded runs share: facts of a tape, and their text."""
