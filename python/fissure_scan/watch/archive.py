"""A NumPy archive whose arrays are inputs of the scan."""


class Archive(dict):
    """What `numpy.load` gives for an .npz file: arrays by name, also as a context."""

    def __init__(self, opened, monitor, frame):
        from ..backends import numpy_backend

        super().__init__()
        for part, name in enumerate(opened.files):
            value = numpy_backend.traced(opened[name])
            if hasattr(value, "shape") and getattr(value, "fissure_traced", False):
                value = monitor.created(
                    numpy_backend.BACKEND, "load", (), {}, value, frame, part, name
                )
            self[name] = value
        self.files = list(opened.files)
        opened.close()

    def close(self):
        """Everything is read already."""

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        return None
