"""What Python's side of the table of functions says of every name."""

import json

import harness

from fissure_worker import functions

table = functions.table()
paths = list(table.by_path) + ["mine.sort", "torch.ops.aten.qr", "tf.nn.relu", "torch.mine.sort"]
print(
    json.dumps(
        {
            path: sorted(it.properties) if it else []
            for path, it in ((path, table.find(path)) for path in paths)
        }
    )
)
