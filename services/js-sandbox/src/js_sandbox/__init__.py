"""Runs JavaScript programs, each in a fresh sealed process of its own."""
