// The configuration's API uses kinds of restarts: their members must be exported with it.
@_exported public import Restarts
