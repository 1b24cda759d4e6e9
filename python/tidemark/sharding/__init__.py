"""What FSDP makes, told by its own methods: shared by recordings, estimates and drop-ins."""
