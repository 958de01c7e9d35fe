"""Settings, wiring, and what the core does on request."""
