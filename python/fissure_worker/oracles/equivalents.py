"""Functions that several libraries have, `data/functions/twins.toml`: calls bound to their forms."""

import ast

#: More arguments than this are bound by name only, where the parameters have other names than those
#: of PyTorch: there may be others between those that the table names.
POSITIONAL = 2


class Form:
    """A call as a table writes it: `torch.sum(input, dim, keepdim=False)`."""

    def __init__(self, expression):
        self.expression = expression
        node = ast.parse(expression, mode="eval").body
        #: What follows the call: `[0]`.
        self.suffix = expression[expression.rindex(")") + 1 :]
        if isinstance(node, ast.Subscript):
            node = node.value
        self.path = dotted(node.func)
        self.required = [it.id for it in node.args if isinstance(it, ast.Name)]
        #: Shared names in the order of the parameters, and those by the name of the parameter.
        self.names = list(self.required)
        self.parameters = {name: name for name in self.names}
        self.defaults = {}
        for keyword in node.keywords:
            if isinstance(keyword.value, ast.Name):
                # A parameter that the library calls otherwise.
                name = keyword.value.id
                self.required.append(name)
            else:
                name = keyword.arg
                self.defaults[name] = ast.literal_eval(keyword.value)
            self.names.append(name)
            self.parameters[keyword.arg] = name
        self.most = len(self.names)
        self.others = {}

    def adopt(self, defaults):
        """What another form of the row has a default for need not be given, here neither."""
        self.most = min(self.most, POSITIONAL)
        for name, value in defaults.items():
            if name in self.required:
                self.required.remove(name)
            if name in self.names:
                self.defaults.setdefault(name, value)
            else:
                self.others[name] = value

    def bind(self, call):
        """`{name: place or value}` of a call's arguments, or None when the form does not cover
        them."""
        used = call.used
        if used.layer is not None or len(used.positional) > self.most:
            return None
        places = {}
        for place, _ in used.values():
            if len(place.keys) == 1:
                key = place.keys[0]
                name = self.names[key] if place.part == 0 else self.parameters.get(key)
                if name in places or name is None:
                    return None
                places[name] = place
        if any(name not in places for name in self.required):
            return None
        bound = {name: places.get(name, self.defaults.get(name)) for name in self.names}
        return dict(self.others, **bound)


def dotted(node):
    if isinstance(node, ast.Attribute):
        return "%s.%s" % (dotted(node.value), node.attr)
    return node.id


def index(rows, library):
    """`{path: [(form, row)]}` for the functions of one library."""
    found = {}
    for row in rows:
        if library in row:
            form = Form(row[library])
            if library != "torch" and "torch" in row:
                form.adopt(Form(row["torch"]).defaults)
            found.setdefault(form.path, []).append((form, row))
    return found
