"""What the tool-runner decides, without I/O: is this job ours, and what is a call's result made of."""
