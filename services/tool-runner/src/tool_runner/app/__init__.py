"""How a call runs: the entry, the tools, the watch over a running call, the workers and their supervisor."""
