"""Settings, wiring, the handler of a request, and the entry point."""
