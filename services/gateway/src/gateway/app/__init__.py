"""Settings, wiring and the use cases behind the routes."""
