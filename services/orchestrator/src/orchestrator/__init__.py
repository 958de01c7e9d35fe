"""Switchbox's trusted core: it talks to models, decides every tool call, and keeps chats."""
