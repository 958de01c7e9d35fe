"""The messages that cross a service border. Import the module of the conversation: `from contracts import tickets`."""
