"""What `fissure scan` runs inside the target's interpreter.

Standard library and the target library only, valid from Python 3.7 on. The Rust side writes a plan,
starts `python -m fissure_scan PLAN`, reads events (JSON lines) from one pipe and sends commands by
another; nothing here writes to standard output.
"""
