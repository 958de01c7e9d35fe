"""What egress decides, without I/O: who may ask, what a request means, and how a refusal reads."""
