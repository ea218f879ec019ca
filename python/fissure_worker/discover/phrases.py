"""Rules from sentences to constraints, as data.

A rule is (name, pattern, constraints, confidence). Patterns are searched in one sentence, with these
words standing for parts: `{num}` a number, `{int}` an integer, `{dtype}` a word for a type of
elements, `{quoted}` a quoted word, `{param}` the name of another parameter, `{box}` a shape in
brackets, `{a}` an article. In constraints `\\g<n>` is what the group `n` matched; a value that
begins with `@` names a function of `sentences.py` that makes the values.
The keys are those of the constraint files: dtype, structure, tensor_t, ndim, shape, range, enum.
"""

#: Words for types of elements → dtypes of constraint files.
DTYPES = {
    "int": "int", "ints": "int", "integer": "int", "integers": "int", "integral": "int",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "long": "int64", "short": "int16",
    "int32s": "int32", "int64s": "int64",
    "float": "float", "floats": "float", "floating": "float", "floating-point": "float",
    "real": "float", "float16": "float16", "float32": "float32", "float64": "float64",
    "half": "float16", "double": "float64", "bfloat16": "bfloat16",
    "complex": "complex", "complex64": "complex64", "complex128": "complex128",
    "bool": "bool", "bools": "bool", "boolean": "bool", "booleans": "bool",
    "string": "string", "strings": "string", "str": "string", "strs": "string",
    "number": "numeric", "numbers": "numeric", "numeric": "numeric", "numerical": "numeric",
    "scalar": None,
    "qint8": "qint8", "quint8": "quint8", "qint32": "qint32", "qint16": "qint16",
    "quint16": "quint16", "byte": "uint8",
}  # fmt: skip
#: Words for containers and tensors → (key, value).
STRUCTURES = {
    "list": ("structure", "list"), "lists": ("structure", "list"),
    "tuple": ("structure", "tuple"), "tuples": ("structure", "tuple"),
    "dict": ("structure", "dict"), "dictionary": ("structure", "dict"),
    "mapping": ("structure", "dict"), "sequence": ("structure", "sequence"),
    "iterable": ("structure", "sequence"),
    "ndarray": ("structure", "ndarray"), "ndarrays": ("structure", "ndarray"),
    "array_like": ("structure", "ndarray"), "array-like": ("structure", "ndarray"),
    "arraylike": ("structure", "ndarray"), "array": ("structure", "ndarray"),
    "arrays": ("structure", "ndarray"),
    "tensor": ("tensor_t", "tensor"), "tensors": ("tensor_t", "tensor"),
    "sparsetensor": ("tensor_t", "SparseTensor"), "raggedtensor": ("tensor_t", "RaggedTensor"),
    "variable": ("tensor_t", "tensor"), "variables": ("tensor_t", "tensor"),
    "indexedslices": ("tensor_t", "tensor"), "symbol": ("tensor_t", "tensor"),
    "parameter": ("tensor_t", "tensor"),
}  # fmt: skip
#: Names of tensor classes that say a dtype too.
TENSOR_CLASSES = {
    "longtensor": "int64", "inttensor": "int32", "floattensor": "float32",
    "doubletensor": "float64", "booltensor": "bool", "bytetensor": "uint8",
    "halftensor": "float16", "shorttensor": "int16", "chartensor": "int8",
}  # fmt: skip
#: What else a documented type may be, in small letters.
OTHER_TYPES = {
    "callable": ("dtype", "callable"), "function": ("dtype", "callable"),
    "dtype": ("dtype", "dtype"), "torch.dtype": ("dtype", "dtype"), "tf.dtype": ("dtype", "dtype"),
    "dtypes.dtype": ("dtype", "dtype"), "data-type": ("dtype", "dtype"),
    "device": ("object", "device"), "torch.device": ("object", "device"),
    "layout": ("object", "layout"), "torch.layout": ("object", "layout"),
    "memory_format": ("object", "memory_format"), "torch.memory_format": ("object", "memory_format"),
    "generator": ("object", "generator"), "torch.generator": ("object", "generator"),
    "module": ("object", "module"), "nn.module": ("object", "module"),
    "optimizer": ("object", "optimizer"), "slice": ("object", "slice"),
    "torch.size": ("structure", "tuple(int)"),
    "none": ("none", "None"), "nonetype": ("none", "None"),
}  # fmt: skip

COUNT = {"dtype": ["int"], "ndim": ["0"], "range": ["[0,inf)"]}

RULES = (
    # Types in so many words.
    ("types listed", r"must be one of the following types: (?P<list>.+)$", {"dtype": ["@dtypes"]}, 0.95),
    ("tensor of type", r"`?tensors?`?s? (?:objects? )?(?:of|with) (?:type|dtype|data type) (?P<list>.+?)(?: and |,? with|,? containing|$)", {"tensor_t": ["tensor"], "dtype": ["@dtypes"]}, 0.95),
    ("with a dtype", r"`?{tensor}`? (?:with|of) (?P<list>(?:`?{dtype}`?(?: point)?(?:,? or|,? and|,|/)* ?){{1,6}})(?:d?types?|data types?)\b", {"tensor_t": ["tensor"], "dtype": ["@dtypes"]}, 0.9),
    ("allowed dtypes", r"\b(?:allowed|supported|valid|accepted) d?types:? (?P<list>(?:`?{dtype}`?(?:,? or|,? and|,|/)* ?){{2,12}})", {"dtype": ["@dtypes"]}, 0.9),
    ("of type", r"(?:must|should) (?:be|have) (?:an? )?(?:of )?(?:d?type|data type) (?P<list>[^;]+)$", {"dtype": ["@dtypes"]}, 0.85),
    ("must be of types", r"must be (?:of )?(?:an? )?(?P<list>(?:`?{dtype}`?(?:,| or| and|/)* ?){{1,6}})(?:d?types?|tensors?)\b", {"dtype": ["@dtypes"]}, 0.85),
    ("valued array", r"\b(?P<list>{dtype})[- ]valued (?:\w+ )?(?:{tensor}|array|signal)\b", {"dtype": ["@dtypes"]}, 0.85),
    ("typed tensor", r"(?:^|\b)(?P<list>(?:`?{dtype}`?(?:,| or| and|/)? ?){{1,6}})[- ]?(?:typed? |valued )?`?{tensor}`?", {"dtype": ["@dtypes"], "tensor_t": ["tensor"]}, 0.85),
    ("optional attribute", r"^an? optional (?:list of )?`?(?P<list>{dtype})s?`?(?: from| between|$|\W)", {"dtype": ["@dtypes"], "ndim": ["@scalar_or_list"]}, 0.95),
    ("optional dtype", r"^an? optional `?tf\.dtype`?", {"dtype": ["dtype"]}, 0.95),
    ("a value of type", r"^{a}(?:python |optional |single |scalar |constant |non-?negative |positive |small |unique )*(?!numbers? of)`?(?P<list>{dtype})`?(?! ?-?(?:typed )?`?{tensor}|[- ]valued (?:\w+ )?(?:{tensor}|array|function|signal)| (?:array|list|tuple|matrix|vector))\b", {"dtype": ["@dtypes"], "ndim": ["0"]}, 0.85),
    ("must be a", r"\bmust be an? (?:python )?`?(?P<list>{dtype})`?(?! ?-?`?{tensor}| (?:array|list|tuple))\b", {"dtype": ["@dtypes"], "ndim": ["0"]}, 0.85),
    ("number or tuple", r"\bcan (?:also )?be (?:either )?(?:an? )?(?:single )?(?:number|int|integer|float|scalar) or (?:an? )?(?P<s>tuple|list)\b", {"structure": [r"\g<s>"], "ndim": ["0", "1"]}, 0.85),
    ("quantity", r"^(?:the |an? )?(?:first |second |input |manual |rescaling |running |minimum |maximum |max |min |original )*(?:matrix|matrices|weights?|mean|variance|value|gradients?)\b(?! (?:used|for|to))", {"dtype": ["numeric"]}, 0.7),
    ("list of type", r"\b{list}s? of (?:non-?negative |positive |python )?(?:\d+ |{int} )?`?(?P<list>{dtype})`?", {"structure": ["@lists"], "dtype": ["@dtypes"], "ndim": ["1"]}, 0.9),
    ("typed list", r"\b(?P<list>{dtype}) (?:{list})\b", {"structure": ["@lists"], "dtype": ["@dtypes"], "ndim": ["1"]}, 0.85),
    ("list of lists", r"\b{list}s? of (?:\d+ |{a})?{list}s\b", {"structure": ["@lists"], "ndim": ["2"]}, 0.85),
    ("list of tensors", r"\b{list}s? (?:of|containing) (?:\d-d |input |the )*`?{tensor}`?", {"structure": ["@lists"], "tensor_t": ["tensor"]}, 0.9),
    ("list", r"^{a}(?:optional |python |nested |non-?empty )*`?{list}`?\b", {"structure": ["@lists"]}, 0.85),
    ("dictionary", r"^{a}(?:optional |python )*`?(?:dict|dictionary)`?\b", {"structure": ["dict"]}, 0.9),
    ("tensor", r"^{a}(?:optional |input |output |dense |potential |floating[- ]point |\d[- ]?d |rank[- ]\d |1-d or higher |n-d |k-d |scalar |single )*`?(?:tf\.|torch\.)?{tensor}`?", {"tensor_t": ["@tensors"]}, 0.9),
    ("noun tensor", r"^(?:the |an? |optional |this )*(?!(?:[\w`-]+ ){{0,4}}(?:of|for|in|from|shape|rank|whether|if|number|size|dimension|axis|name|type|dtype|to|over|along|list|tuple|that|seed|output_shape)\b)(?:`?[\w\-/()]+`? ){{0,4}}`?['\"]?(?:tf\.|torch\.)?{tensor}['\"]?`?(?! shape| size| format| dimension|-)\b", {"tensor_t": ["@tensors"]}, 0.85),
    ("random key", r"\bPRNG key\b", {"object": ["generator"]}, 0.9),
    # Flags.
    ("whether", r"^(?:a (?:bool|boolean)?,? ?)?(?:whether|if (?:set(?: to)? )?`{{0,2}}(?:true|false)|(?:specifies|indicates|determines|controls) (?:whether|if)|flag|set (?:this )?to `{{0,2}}(?:true|false)|when set to `{{0,2}}true|when `{{0,2}}true)\b", {"dtype": ["bool"], "ndim": ["0"]}, 0.95),
    ("boolean later", r"\bif (?:set to )?`{{0,2}}(?:true|false)`{{0,2}}\b", {"dtype": ["bool"], "ndim": ["0"]}, 0.75),
    ("defaults to boolean", r"\bdefaults? (?:to|is|value is|=|:) ?:? ?`{{0,2}}(?:true|false)`{{0,2}}\b", {"dtype": ["bool"], "ndim": ["0"]}, 0.9),
    # Counts, names, axes.
    ("number of", r"^(?:optional,? )?(?:the |total |a |maximum |minimum |max |desired )*(?:number|count) of\b", COUNT, 0.85),
    ("size of", r"^(?:the |an? )?(?:\w+ )?(?:sizes?|lengths?|width|height|depth|strides?|amount|dimensionality) of\b", {"dtype": ["int"], "range": ["[0,inf)"]}, 0.8),
    ("name of", r"^(?:an? |the )?(?:optional )?(?:python )?(?:string )?name (?:for|of|to|prefix|scope)\b", {"dtype": ["string"], "ndim": ["0"]}, 0.95),
    ("string name", r"^{a}(?:optional )?string\b", {"dtype": ["string"], "ndim": ["0"]}, 0.9),
    ("the axis", r"^(?:the |an? |optional )*(?:axis|dimension|dim)\b(?! of| sizes| is)", {"dtype": ["int"]}, 0.85),
    ("axis along", r"\b(?:axis|dimension)s? (?:along|over|on|in) which\b", {"dtype": ["int"]}, 0.85),
    ("axes", r"^(?:the )?(?:axis or axes|axes|dimensions|dims|dimension or dimensions)\b", {"dtype": ["int"]}, 0.8),
    ("index of", r"^(?:the )?(?:index|position) (?:of|at|to|from)\b", {"dtype": ["int"], "ndim": ["0"]}, 0.8),
    ("indices of", r"^(?:the |tensor of )?indices\b", {"dtype": ["int"]}, 0.75),
    ("shape of", r"^(?:the |desired |expected |a |output )*(?:shape|size)s? (?:of|to)\b", {"dtype": ["int"], "range": ["[0,inf)"]}, 0.7),
    ("random seed", r"\b(?:random )?seed\b", {"dtype": ["int"], "ndim": ["0"]}, 0.8),
    ("wanted dtype", r"^(?:the )?(?:(?:desired|output|optional|expected|wanted|specified|returned|resulting|element|target|destination) )*(?:(?:data ?type|dtype) (?:of|for|to)\b|type (?:of|for|to)(?= (?:the |this |all |an? )*(?:\w+ ){{0,2}}`?(?:tensor|array|output|result|elem|value|entr|data|variable|weight|input|sample|return|number|index|indices|features?\b|state|op\b|operation)))|^the desired data type\b|^the (?:dtype|data type) (?:of|to|for)\b|^data ?type of\b", {"dtype": ["dtype"]}, 0.9),
    ("probability", r"^(?:the |a )?(?:dropout |drop )?(?:probability|learning rate)\b|\bprobability (?:of|that)\b", {"dtype": ["float"], "ndim": ["0"], "range": ["[0,1]"]}, 0.85),
    ("small value", r"^(?:the |a )*(?:small |scaling |constant |multiplicative |additive )*(?:value|factor|constant|term|multiplier|epsilon|decay|momentum|variance|mean|standard deviation|deviation|threshold|slope|weight decay|coefficient)\b(?! of the (?:tensor|input))", {"dtype": ["numeric"]}, 0.6),
    # Ranks.
    ("k-D", r"(?<![\w.>])(?P<k>\d)[- ]?d(?:imensional)?\b(?! or higher| or more| convolution| pool| conv| filter| fft| batch)", {"ndim": [r"\g<k>"]}, 0.9),
    ("k-D or higher", r"(?<![\w.])(?P<k>\d)[- ]?d(?:imensional)? or (?:higher|more|greater)", {"ndim": [r">=\g<k>"]}, 0.95),
    ("rank k", r"\b(?:rank|ndim|dimension)(?: of| is| ==?|-)? ?(?P<k>\d)\b(?! or)", {"ndim": [r"\g<k>"]}, 0.85),
    ("rank at least", r"\brank (?:`?\w`? )?(?:is |of |must be |should be )?(?:at least |>= ?)(?P<k>\d)|\brank (?P<j>\d) or (?:higher|more|greater)|\brank (?:`?\w`? )?> ?(?P<above>\d)|\b(?:n-d|n[- ]dimensional)\b.*\bn`? *>= *`?(?P<n>\d)|\b(?:n-d|n[- ]dimensional)\b.*\bn`? *> *`?(?P<nabove>\d)|\bat least (?P<d>\d)(?:[- ]?d\b|[- ]dimensional\b| dimensions?\b)", {"ndim": ["@at_least"]}, 0.95),
    ("scalar", r"(?:^|^{a}|^{a}\S+ |^0-?d(?: \(scalar\))? )(?:python |constant |optional |`?{dtype}`? )*`?scalars?`?\b(?! or)", {"ndim": ["0"]}, 0.85),
    ("one-dimensional", r"\b(?:one|single)[- ]dimensional\b", {"ndim": ["1"]}, 0.9),
    ("two-dimensional", r"\btwo[- ]dimensional\b", {"ndim": ["2"]}, 0.9),
    ("vector", r"^{a}(?:`?{dtype}`? )*vectors?\b|\bvector of\b", {"ndim": ["1"]}, 0.8),
    ("matrix", r"^{a}(?:`?{dtype}`? |square |symmetric )*matrix\b", {"ndim": ["2"]}, 0.6),
    # Shapes.
    ("with shape", r"(?<!\.)\b(?:shaped?|shapes|of size|with size|has size|have size|having size|size is|(?:of|with|has|have) dim(?:ension)?s?)(?: is| of| =|:|,| (?:must|should|has to|needs to|will) be)?(?: the form)?(?: is)? ?(?::math:)?`{{0,2}}(?P<box>{box}(?:\s*\+\s*(?:{box}|`*\w+(?:\.shape)?`*))*)`{{0,2}}(?P<more>(?:,? or (?:of shape )?(?::math:)?`{{0,2}}{box}`{{0,2}})*)", {"shape": ["@shape"]}, 0.9),
    ("of the form", r"\b(?:{tensor}|array|matrix|vector|list|tuple)s? (?:of|in|with) (?:the )?form(?:at)?:? (?::math:)?`{{0,2}}(?P<box>[\[(][A-Za-z_]\w*(?:\s*,\s*(?:[\w*{{}}]+|\.\.\.))+[\])])`{{0,2}}(?=$|[,.; ])", {"shape": ["@shape"]}, 0.85),
    ("tensor of a named size", r"^{a}(?:\w+ ){{0,6}}`?{tensor}`? (?:of|with) (?:size|length) `{{0,2}}(?P<n>[A-Za-z_]\w*)`{{0,2}}$(?<!size)(?<!match)", {"shape": [r"[\g<n>]"], "ndim": ["1"]}, 0.8),
    ("tuple of so many", r"\b(?P<k>double|triple|two|three|four)-?(?:{dtype}|element|valued?) (?:tuple|list|vector|tensor)\b", {"shape": ["@in_words"]}, 0.85),
    ("shaped tensor", r"^{a}(?::math:)?`{{0,2}}(?P<box>{box})`{{0,2}}(?!-d\b)[- ](?:shaped? )?(?:\w+ )?(?:`?{tensor}|matrix|array|vector)", {"shape": ["@shape"], "tensor_t": ["tensor"]}, 0.85),
    ("shape first", r"^(?::math:)?`{{0,2}}(?P<box>\([A-Za-z][\w{{}}]*\s*(?:,[^()]*)?\))`{{0,2}}(?: |$|,)(?!optional|and \()", {"shape": ["@shape"]}, 0.8),
    ("tensor with shape", r"^(?:\w+ ){{0,4}}tensor (?::math:)?`{{0,2}}(?P<box>\([A-Za-z][^()]*\))", {"shape": ["@shape"], "tensor_t": ["tensor"]}, 0.85),
    ("container, then its form", r"(?:\b\d[- ]?d (?:\w+ ){{0,2}}?`?{tensor}`?|\b(?:`?{tensor}`?|vector|matrix|array) of|\bvector|^{a}tuple(?: of)?),? (?::math:)?`{{0,2}}(?P<box>[\[(](?:[A-Za-z_]\w*|\d+|\.\.\.)(?:\s*,\s*(?:[A-Za-z_]\w*|\d+|\.\.\.))*,?[\])])`{{0,2}}(?=$|[,.;]| )", {"shape": ["@shape"]}, 0.85),
    ("noun, then its form", r"^(?:the |an? )?(?:[\w\-]+ ){{1,4}}(?::math:)?`{{1,2}}(?P<box>\([A-Z]\w*(?:\s*,\s*[A-Z*]\w*)+\))`{{1,2}}$", {"shape": ["@shape"]}, 0.8),
    ("whose length", r"\bwhose (?:length|size) (?:is|must be|equals|matches)(?: the| equal to)? `{{1,2}}(?P<n>[A-Za-z_]\w*)`{{1,2}}", {"shape": [r"[\g<n>]"], "ndim": ["1"]}, 0.8),
    ("sizes multiplied", r"\b(?:shapes?|of size|with size|sizes?)(?: is| of|:)? ?(?::math:)?`?\(?(?P<product>`?\w+`?(?:\s+(?:\*|x|\u00d7|times)\s+`?\w+`?)+)\)?", {"shape": ["@product"]}, 0.85),
    ("sizes multiplied, then tensor", r"^{a}\(?(?P<product>`?\w+`?(?:\s+(?:\*|x|\u00d7|times)\s+`?\w+`?)+)\)? `?(?:{tensor}|matrix)", {"shape": ["@product"]}, 0.85),
    ("named last dimension", r"\b(?:last|innermost) dimension (?:has|have|is|of|must be|should be|must have)(?: of)? (?:the )?(?:size|length) `?(?P<n>[A-Za-z]\w*)`?(?=$|[,.;)])", {"shape": [r"[...,\g<n>]"]}, 0.85),
    ("last dimension", r"\b(?:last|innermost) dimension (?:(?:must|should|has to)(?: have| be)?|has|of|is)(?: of)?(?: size| length)? (?P<numbers>(?:`?(?:\d+|None)`?(?:,? or |, |,))*`?\d+\b)", {"shape": ["@last_sizes"]}, 0.85),
    ("forms in brackets", r":\s*(?P<boxes>(?:\([a-z](?:\s*,\s*[a-z])*,?\)(?:,? or |, )?){{1,4}})(?:$|\.)", {"shape": ["@lengths_of"]}, 0.85),
    ("sizes of the result", r"\boutput (?:shape|size) ?(?P<boxes>\([A-Za-z]\w*(?:\s*,\s*[A-Za-z]\w*)*\))", {"shape": ["@lengths_of"]}, 0.8),
    ("rows in brackets", r"\b(?:array|{tensor}|list|matrix) of \[(?P<box>\[\w+(?:\s*,\s*\w+)+\])\]", {"shape": ["@rows"], "ndim": ["2"]}, 0.85),
    ("pair", r"^(?:an? |the )?pair of \w+|\ba pair of (?:{dtype})\b", {"shape": ["[2]"]}, 0.85),
    ("counted in words", r"\b{list}s? of (?P<k>two|three|four|five|six) (?:{dtype}|values|entries|elements)\b", {"shape": ["@in_words"]}, 0.85),
    ("single element", r"\b{list} of an? single (?:{dtype})\b", {"shape": ["[1]"]}, 0.85),
    ("list of N", r"\b{list} of (?P<n>[A-Z]) (?:{dtype})\b", {"shape": [r"[\g<n>]"]}, 0.85),
    ("named length", r"\b(?:of|with|has|have) (?:length|size) (?P<q>[`'\"]?)(?P<n>(?<=[`'\"])[A-Za-z_]\w*|[A-Za-z]|\w+_\w+)(?P=q)(?= |$|\.|;|,|\))(?!,? or)", {"shape": [r"[\g<n>]"], "ndim": ["1"]}, 0.85),
    ("lengths", r"\b(?:of|with|has|have) length `?(?P<numbers>\d+`?(?:, `?\w(?:\+\d)?`?)*,? or `?\w(?:\+\d)?)`?", {"shape": ["@lengths"]}, 0.85),
    ("k-tuple", r"\b(?P<k>\d)-(?P<s>tuple|list)\b", {"shape": [r"[\g<k>]"], "structure": [r"\g<s>"]}, 0.85),
    ("length k", r"\b(?:of|with|has|have) (?:length|size) `?(?P<k>\d+)\b(?!`?,|`? or|-| \*)", {"shape": [r"[\g<k>]"], "ndim": ["1"]}, 0.8),
    ("length at least", r"\b(?:length|size) `?(?:>= ?|at least )(?P<k>\d+)\b", {"shape": [r"[>=\g<k>]"], "ndim": ["1"]}, 0.85),
    ("k elements", r"\b(?:{list}|tensor|vector|tuple/list|list/tuple)s? (?:of|with) (?:length |size )?(?P<k>\d) (?:elements?|ints?|integers?|floats?|numbers?|values?|entries|strings?)\b", {"shape": [r"[\g<k>]"]}, 0.85),
    # Dependencies.
    ("same type as", r"(?:must have|has|have|of|with|must be)? ?(?:the )?same (?:d?type|data type)(?: and shape| and size)? (?:as|of) (?:the )?`{{0,2}}(?:argument )?(?P<p>{param})\b", {"dtype": [r"dtype:&\g<p>"]}, 0.95),
    ("of that type", r"\bof (?:d?type|data type) `{{1,2}}(?P<p>{param})`{{1,2}}", {"dtype": [r"dtype:&\g<p>"]}, 0.85),
    ("same shape and type", r"same shape and (?:d?type|data type) as (?:the )?`{{0,2}}(?P<p>{param})\b", {"dtype": [r"dtype:&\g<p>"], "shape": [r"shape:&\g<p>"]}, 0.95),
    ("same shape as", r"same (?:shape|size)(?: and (?:d?type|data type))? (?:as|of) (?:the )?`{{0,2}}(?P<p>{param})\b", {"shape": [r"shape:&\g<p>"]}, 0.9),
    ("shape of that name", r"\bshape (?:like |as |as that of )`{{1,2}}(?P<p>{param})`{{1,2}}(?! dim)", {"shape": [r"shape:&\g<p>"]}, 0.8),
    ("shape of it", r"\bshape (?:of |is |like )?`{{1,2}}(?P<p>{param})\.(?:shape|size\(\))`{{1,2}}", {"shape": [r"shape:&\g<p>"]}, 0.8),
    ("shape that matches", r"(?:shape (?:must|should|has to|needs to) (?:match|be (?:the same as|equal to|identical to))|(?:must|should|has to) (?:match|be of|have) the shape of|identical (?:shape|size) (?:to|as)|same (?:shape|dimensions|size) (?:with|to)|same dimensions as|shape (?:equal to|matching)(?: that of)?)(?: the| that of)? `{{0,2}}(?P<p>{param})\b", {"shape": [r"shape:&\g<p>"]}, 0.85),
    ("same type and shape", r"same (?:d?type|data type) and (?:shape|size) as (?:the )?`{{0,2}}(?P<p>{param})\b", {"dtype": [r"dtype:&\g<p>"], "shape": [r"shape:&\g<p>"]}, 0.95),
    ("same rank as", r"same (?:rank|number of dimensions) as (?:the )?`{{0,2}}(?P<p>{param})\b", {"ndim": [r"ndim:&\g<p>"]}, 0.9),
    ("broadcastable", r"broadcastable (?:with|to) (?:the )?(?:shape of )?`{{0,2}}(?P<p>{param})\b", {"broadcast": [r"\g<p>"]}, 0.9),
    # Ranges.
    ("amount", r"^(?!(?:whether|if|when|name|the name|type|axis|the axis|dimension|initializer|a?n? ?tensor|change|add|crop|pad|value used|last dimension|\d-d of|(?:[\w ]* )?ratio|multiplier|[\w ]+ controls|[\w ]+ from)\b)(?:[\w`,\-/()]+ ){{0,7}}?(?:sizes?|strides?|lengths?|depth|numbers? of|amount|(?<!`)height|(?<!`)width|dimensionality|rank of|how many|this many|count|tolerance)\b(?! tensor|_|:| (?:must|shift|or \w+ in|dimensions?)\b)", {"range": ["[0,inf)"]}, 0.7),
    ("meant as a size", r"\b(?:represents?|representing|specif(?:ies|ying)|defin(?:es|ing)|indicat(?:es|ing)|giv(?:es|ing)) the (?:\w+ ){{0,2}}(?:shape|size|length|number|height|width|depth)s?\b(?! (?:dimension|axis))", {"range": ["[0,inf)"]}, 0.8),
    ("shape of the result", r"^(?:[\w`/]+ ){{0,6}}(?:integers?|ints?), (?:the )?(?:shape|size) of\b", {"range": ["[0,inf)"]}, 0.8),
    ("rate", r"\b(?:decay|drop|dropout|learning) rates?\b", {"range": ["[0,1]"]}, 0.8),
    ("fraction", r"^(?:the |an? )?(?:\w+ ){{0,2}}(?:fraction|proportion) of\b|^{a}(?:float|number|scalar)[,.] (?:the )?(?:fraction|proportion) of\b", {"range": ["[0,1]"]}, 0.8),
    ("chance", r"(?<!log[- ])\bprobabilit(?:y|ies)\b(?! distribution)|\bdropout rate\b", {"range": ["[0,1]"]}, 0.8),
    ("non-negative", r"\bnon-?\s?negative\b", {"range": ["[0,inf)"]}, 0.95),
    ("positive", r"(?<!valid )(?<!non-)(?<!non )(?<!/)(?<!negative to )(?<!usually )(?<!a )\bpositive\b(?! (?:semi|definite|and|or|values?|class|label|weight|examples|part|side|direction|match|samples|infinity))(?!/)|\ba positive (?:{dtype}|scalar)\b", {"range": ["(0,inf)"]}, 0.85),
    ("positive values", r"\b(?:of|with|all|only|contains?|containing|be) (?:strictly )?positive (?:values|numbers|entries|elements)\b", {"range": ["(0,inf)"]}, 0.85),
    ("strictly positive", r"\bstrictly positive\b", {"range": ["(0,inf)"]}, 0.95),
    ("greater than", r"(?:must|should|has to) be (?:strictly )?(?:greater|larger|bigger|more) than `?(?P<k>{num})`?(?! ?or)", {"range": [r"(\g<k>,inf)"]}, 0.9),
    ("above zero", r"\b(?:must|should|has to) be (?:strictly )?(?:greater|larger) than zero\b", {"range": ["(0,inf)"]}, 0.9),
    ("at least", r"(?:(?:must|should|has to|have to|needs? to) be|(?<=that )are) (?:at least|no (?:less|smaller) than|greater than or equal to|>=) ?`?(?P<k>{num})(?![\w.]|[- ]?dim|-?d\b| (?:element|entr|item|tensor|value))", {"range": [r"[\g<k>,inf)"]}, 0.9),
    (">=", r"(?:^|(?<!rank)(?<!\b\w)[\s`(])>= ?(?P<k>{num})\b(?!\s*(?:d\b|elements))", {"range": [r"[\g<k>,inf)"]}, 0.87),
    ("> number", r"(?:^|(?<!rank)(?<!\b\w)[\s`(])> ?(?P<k>{num})\b", {"range": [r"(\g<k>,inf)"]}, 0.86),
    ("chained", r"(?P<j>{num}) ?(?P<o><=?) ?`?(?:\w+)`? ?(?P<c><=?) ?(?P<k>{num})\b", {"range": ["@chained"]}, 0.9),
    ("from to", r"\b(?:from|in(?: the)? range(?: of)?|values?(?: in)?|range:?) `?(?P<j>{num})`? ?(?:to|-|\.\.\.?|through|and) ?`?(?P<k>{num})\b", {"range": [r"[\g<j>,\g<k>]"]}, 0.85),
    ("non-positive", r"\bnon-?\s?positive\b", {"range": ["(-inf,0]"]}, 0.9),
    ("at most", r"(?:must|should) be (?:at most|no (?:more|greater|larger) than|(?:less|smaller) than or equal to|<=) ?`?(?P<k>{num})", {"range": [r"(-inf,\g<k>]"]}, 0.9),
    ("or more", r"\b(?:greater|larger) than or equal to `?(?P<k>{num})", {"range": [r"[\g<k>,inf)"]}, 0.85),
    ("id of", r"^(?:the |an? )?(?:id|identifiers?) of\b|^(?:the |an? )?(?:(?:{list}|tensor) of )?(?:\w+ )?ids\b", {"dtype": ["int"], "range": ["[0,inf)"]}, 0.8),
    ("less than", r"(?:must|should) be (?:strictly )?(?:less|smaller) than `?(?P<k>{num})\b(?! ?or)", {"range": [r"(-inf,\g<k>)"]}, 0.85),
    ("between", r"\bbetween `?(?P<j>{num})`? and `?(?P<k>{num})`?(?! dim)", {"range": [r"[\g<j>,\g<k>]"]}, 0.85),
    ("interval", r"\b(?:in(?: the)?(?: closed| open| half-open)?(?: range| interval)?|range(?: is| of)?:?|interval|within) ?(?::math:)?`{{0,2}}(?P<o>[\[(])\s*(?P<j>-?(?:{num}|inf))\s*,\s*(?P<k>(?:{num}|inf))\s*(?P<c>[\])])", {"range": ["@interval"]}, 0.95),
    ("interval of names", r"\b(?:in(?: the)?(?: closed| open| half-open)?(?: range| interval)?|range(?: is| of)?:?|interval|within) ?(?::math:)?`{{0,2}}(?P<o>[\[(])\s*(?P<j>-?[\w.]+(?:\(\w*\))?(?:\s*[-+]\s*\d+)?)\s*,\s*(?P<k>-?[\w.]+(?:\(\w*\))?(?:\s*[-+]\s*\d+)?)\s*(?P<c>[\])])", {"range": ["@named_interval"]}, 0.9),
    ("float in", r"^{a}float (?:value )?(?:>=|greater than or equal to) ?(?P<k>{num})", {"range": [r"[\g<k>,inf)"]}, 0.9),
    # Choices.
    ("choices from", r"(?:\bfrom:|\bstring`? from:?(?= [`'\"])) `{{0,2}}(?P<list>(?:{quoted}(?:,| or| and)* ?){{1,30}})", {"enum": ["@quoted"], "dtype": ["string"], "ndim": ["0"]}, 0.95),
    ("one of", r"(?<!only )(?<!least )\b(?:one of|either|choose from|chosen from|can be|may be|must be|should be|options are|options:|available(?: modes)?(?: are)?:?|supported(?: \w+){{0,3}}(?: are| is|:)|possible values(?: are)?:?|possible types?(?: are)?:?|support(?= ['\"])|choices(?: are)?:?|available options(?: are)?:?|specifies the \w+(?: \w+)?:|accepted values:?|supports|in(?= ?[\[{{('\"])|allowed values(?: are)?:?|valid (?:\w+ )?(?:are|is)):? (?:the (?:following|strings?)(?: \w+)?:? )?(?:[\[{{(]|`(?=[{{\[]))*(?P<list>(?:{quoted}(?:\s*\([^()]*\))?(?:\s*(?:,|\||/|or|and|\bdefault\b))* ?){{2,30}})", {"enum": ["@quoted"], "dtype": ["string"]}, 0.9),
    ("only this is supported", r"\b(?:only|currently),? (?P<list>`{{0,2}}['\"][\w\-]+['\"]`{{0,2}}) (?:is|are) (?:currently |the only )*(?:supported|allowed|accepted|available|valid)\b", {"enum": ["@quoted"], "dtype": ["string"]}, 0.85),
    ("are supported", r"(?P<list>(?:{quoted}(?:\s*(?:,|/|or|and))* ?){{2,12}})(?:(?:are|is) )?(?:currently |the only )*(?:supported|allowed|accepted|available|valid)\b", {"enum": ["@quoted"], "dtype": ["string"]}, 0.9),
    ("only supports", r"\b(?:only (?:supports?|accepts?|allows?)|supports? only|(?:must|can only) be(?= `{{0,2}}['\"])) (?P<list>(?:{quoted}(?:\s*(?:,|/|or|and))* ?){{1,12}})", {"enum": ["@quoted"], "dtype": ["string"]}, 0.85),
    ("numbers that are supported", r"(?<![\w.])(?:only |currently )*(?P<numbers>(?:(?:\w+ ?= ?)?`?-?\d+`?(?:,| or| and)* ?){{1,6}})(?:is|are) (?:currently |only )*supported\b|\b(?:must|can only) be `(?P<one>-?\d+)`$", {"enum": ["@numbers"]}, 0.85),
    ("numbers with or", r"^(?:(?:[\w ]+,? )?(?:must be|can be|may be|should be|either|one of)(?: either| one of)?:? )?`?(?P<numbers>-?\d+`?(?:, `?-?\d+`?)*,? or `?-?\d+)`?$", {"enum": ["@numbers"]}, 0.85),
    ("words after a colon", r"(?:\b(?:supported|available|possible|valid|allowed|accepted) (?:\w+ ){{0,2}}?\w+(?: are| is)?:|\bany one of) ?(?P<words>[a-z][\w\-]*(?:, (?:or |and )?[a-z][\w\-]*)+(?: (?:or|and) [a-z][\w\-]*)?)\)?$", {"enum": ["@bare_words"], "dtype": ["string"]}, 0.8),
    ("choices in brackets", r"\((?P<list>(?:{quoted}(?:,| or|/|\|)+ ?){{1,12}}{quoted})\)", {"enum": ["@quoted"], "dtype": ["string"]}, 0.85),
    ("alternatives with bars", r"(?P<list>(?:{quoted}(?:\s*\([^()]*\))?\s*\|\s*){{1,30}}{quoted})", {"enum": ["@quoted"], "dtype": ["string"]}, 0.9),
    ("quoted after colon", r"(?::|\bas|\bwith|\bare) ?(?P<list>(?:`{{0,2}}['\"][\w\-]+['\"]`{{0,2}}(?:\s*(?:,|/|or|and))+ ?){{1,30}}`{{0,2}}['\"][\w\-]+['\"]`{{0,2}})", {"enum": ["@quoted"], "dtype": ["string"]}, 0.85),
    ("quoted in a row", r"\b(?:set(?:ting)?(?: \w+)? to|to use|uses?|choose|select|method|mode|could be)\b[^'\"`]{{0,30}}(?P<list>(?:`{{0,2}}['\"][\w\-]+['\"]`{{0,2}}(?:\s*\([^()]*\)| by default)?\s*(?:,|/|or|and)+ (?:or |and )?){{1,30}}`{{0,2}}['\"][\w\-]+['\"]`{{0,2}})(?! stands?| denote|,? etc)", {"enum": ["@quoted"], "dtype": ["string"]}, 0.8),
    ("alternatives in quotes", r"^(?:{a}(?:optional )?(?:string|str),? (?:one of |either |in )?)?[\[{{(]?(?P<list>(?:{quoted}\s*(?:,|\||/|or)+ ?){{1,30}}{quoted})(?! stands?| denote)", {"enum": ["@quoted"], "dtype": ["string"]}, 0.85),
)  # fmt: skip

#: Rules that read a property of whatever the sentence is about.
ABOUT_OTHERS = frozenset(
    [
        "positive",
        "non-negative",
        "strictly positive",
        "positive values",
        ">=",
        "> number",
        "greater than",
        "at least",
        "quoted in a row",
    ]
)
#: Rules that say nothing where the sentence tells of one case only.
UNCONDITIONAL = frozenset(
    [
        "with shape",
        "> number",
        ">=",
        "positive",
        "interval",
        "between",
        "interval of names",
        "container, then its form",
        "named length",
        "rank at least",
        "shape of that name",
        "quoted in a row",
    ]
)
#: Rules about the value itself, not about its rank or its length.
OF_THE_WHOLE = frozenset(
    [
        "at least",
        "greater than",
        "less than",
        ">=",
        "> number",
        "length k",
        "named length",
        "above zero",
        "numbers with or",
        "length at least",
    ]
)

#: Vocabulary that `{…}` in patterns stands for.
WORDS = {
    "num": r"-?(?:\d+\.?\d*(?:e-?\d+)?)",
    "int": r"\d+",
    "a": r"(?:an? |the |one |some |optional[,.]? |\(optional\)[,.]? )*",
    "dtype": r"(?:%s)" % "|".join(
        sorted((word for word in DTYPES if DTYPES[word]), key=len, reverse=True)
    ),
    "tensor": r"(?:sparse|ragged)?(?:tf\.|torch\.)?(?:tensor|tensors|tensor-like|symbol|ndarray|variable|variables)",
    "list": r"(?:list|tuple|sequence|iterable)(?: or (?:a )?tuple|/tuple)?",
    "quoted": r"(?:`{1,2}['\"]?[\w\-+./ ]{1,30}?['\"]?`{1,2}|['\"][\w\-+./ ]{0,30}?['\"]|\u2018[\w\-]+\u2019|\u201c[\w\-]+\u201d)",
    "box": r"[\[(][^\[\]()]*(?:\([^()]*\)|\[[^\[\]]*\]|[^\[\]()])*[\])]",
}  # fmt: skip
