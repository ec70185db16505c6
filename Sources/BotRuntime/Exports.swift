// A configuration speaks of kinds of restarts: their members must come along.
@_exported public import Restarts
