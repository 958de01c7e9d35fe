"""What the tool-runner talks to: RQ's queues, Redis, and command-box. One outside thing in each module."""
