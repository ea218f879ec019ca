"""What happens inside one run: inputs, operations, the trace."""
