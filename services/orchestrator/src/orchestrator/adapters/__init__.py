"""One module for each thing outside: a model, the store, the queue, a socket."""
