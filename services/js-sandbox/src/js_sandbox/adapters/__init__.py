"""V8, the sealed processes it runs in, and the pool that keeps them warm."""
