"""Runs shell commands for chats: each sealed in its own workspace, and nothing of it alive afterwards."""
