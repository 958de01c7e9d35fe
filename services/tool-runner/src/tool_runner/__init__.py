"""The tool-runner: takes signed calls off the queue, works with workspace files, and hands commands to command-box."""
