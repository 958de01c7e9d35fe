"""The pure judges that more than one service needs: no I/O, no clock, no environment in any of them."""
