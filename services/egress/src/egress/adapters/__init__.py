"""The outside: sockets of clients and servers, the resolver, the decisions socket."""
