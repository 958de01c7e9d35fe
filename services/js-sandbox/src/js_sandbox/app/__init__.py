"""The HTTP face of the service and its wiring."""
