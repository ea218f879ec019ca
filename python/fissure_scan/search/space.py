"""What a search may move: the inputs and the weights of a program, by their keys."""


class Space:
    def __init__(self, inputs, weights, known, names=()):
        self.inputs = inputs  # variables of levels L1 and L2
        self.weights = weights  # variables of level L3
        self.names = list(names)  # whole numbers that only say which element is meant
        every = inputs + weights + self.names
        self.by_key = dict((variable.key, variable) for variable in every)
        self.known = known  # key -> what the own run told of every input, frozen ones too

    def made_up(self):
        """Are there arguments of a target function that neither a call nor a document gave?"""
        return any(info.made_up for info in self.known.values() if not info.frozen)
