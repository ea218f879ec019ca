"""The program as something that can be run again and again: targets, arguments, sessions."""
