"""The one-shot service that makes keys, passwords and folder owners before anything else starts."""
