// The configuration's API uses RestartKind, so clients need its members too.
@_exported public import ProcessSupport
