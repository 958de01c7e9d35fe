"""What the core decides and keeps, without I/O."""
