def apply(answer, target):
    pass
