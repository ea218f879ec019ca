"""Data from outside the script: batches of loaders, and files that torch or NumPy read."""

import collections

# Operations looked at when asking where a batch comes from.
_PATIENCE = 4000


def install(patches, monitor, torch_mode):
    """Batches of `DataLoader` and tensors of `torch.load` become inputs."""
    import torch

    backend = torch_mode.backend
    iterator = torch.utils.data.dataloader._BaseDataLoaderIter
    original = iterator.__next__

    def next_batch(self):
        if not monitor.active:
            return original(self)
        frame, direct, _ = monitor.users.locate(2)
        monitor.fetching += 1
        try:
            batch = original(self)
        finally:
            monitor.fetching -= 1
        if frame is None or not direct:
            return batch
        return _entered(monitor, backend, batch, frame, [0])

    patches.set(iterator, "__next__", next_batch)

    original_load = torch.load

    def load(*arguments, **keywords):
        value = original_load(*arguments, **keywords)
        frame, direct, _ = monitor.users.locate(2)
        if frame is None or not direct or not monitor.active:
            return value
        return _loaded(monitor, backend, value, frame)

    patches.set(torch, "load", load)


def _entered(monitor, backend, batch, frame, position):
    """The batch with its floating-point tensors as inputs, unless they come from known ones."""
    if isinstance(batch, (list, tuple)):
        parts = [_entered(monitor, backend, item, frame, position) for item in batch]
        # A named tuple is made from its fields.
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    if isinstance(batch, dict):
        return dict(
            (key, _entered(monitor, backend, item, frame, position)) for key, item in batch.items()
        )
    if not backend.is_array(batch):
        return batch
    position[0] += 1
    if not backend.is_float(batch) or _comes_from_input(monitor, batch):
        return batch
    return monitor.batch(backend, batch, position[0] - 1, frame)


def _comes_from_input(monitor, tensor):
    """Was it computed from an input that is known already (a TensorDataset of the script)?"""
    waiting, seen = [tensor], set()
    while waiting and len(seen) < _PATIENCE:
        value = waiting.pop()
        if id(value) in monitor.known:
            return True
        if id(value) in seen:
            continue
        seen.add(id(value))
        producer = monitor.trace.producers.get(id(value))
        if producer is not None:
            waiting.extend(producer.inputs)
    return False


def _loaded(monitor, backend, value, frame):
    """A loaded tensor is data; what looks like the state of a model is left alone."""
    if backend.is_float(value):
        return monitor.created(backend, "load", (), {}, value, frame)
    if isinstance(value, collections.OrderedDict):
        return value
    if isinstance(value, dict):
        if any(
            "state_dict" in str(key) or str(key).endswith((".weight", ".bias")) for key in value
        ):
            return value
        return dict(
            (
                key,
                monitor.created(backend, "load", (), {}, item, frame, part, str(key))
                if backend.is_float(item)
                else item,
            )
            for part, (key, item) in enumerate(value.items())
        )
    if type(value) in (list, tuple):
        return type(value)(
            monitor.created(backend, "load", (), {}, item, frame, part)
            if backend.is_float(item)
            else item
            for part, item in enumerate(value)
        )
    return value
