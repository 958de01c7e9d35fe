"""The filter at the way out: a forward proxy that asks who calls, judges where to, and dials what it judged."""
