//! Call sites, input sources and regions of a Python program, from its source.
