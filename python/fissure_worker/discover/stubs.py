def forms(path, target):
    return []
