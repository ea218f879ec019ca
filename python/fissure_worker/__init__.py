"""What runs inside the target's interpreter; embedded in the program, never installed."""
