"""What a finished program means: pure, no I/O."""
