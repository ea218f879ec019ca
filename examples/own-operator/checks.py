"""Properties of every result, whatever the function computes."""


def check_length(result, x, width=2):
    assert result.shape[-1] == x.shape[-1] - width + 1, "one window for each position"
