"""The gateway: the one published port. It judges every request, serves the browser app, and streams between browser and core."""
