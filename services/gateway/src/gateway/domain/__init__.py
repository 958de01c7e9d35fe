"""Decisions of the gateway: pure functions of a request, a token, a code, a file's first bytes. No I/O, no clock."""
