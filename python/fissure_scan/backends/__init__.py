"""One backend per library: what the monitor, the search and the oracles ask about its arrays."""
