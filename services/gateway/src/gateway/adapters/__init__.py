"""One outside thing per module: the HTTP listener, the core socket, the login socket, files on disk."""
