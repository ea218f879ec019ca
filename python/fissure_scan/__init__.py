"""What `fissure scan` runs inside the target's interpreter.

Standard library and the target library only, valid from Python 3.7 on. The Rust side writes a plan,
starts the interpreter with it, and both talk in JSON lines over a socket; nothing here writes to
standard output.
"""
