// WorkerSpecification uses RestartKind, so clients need its members too.
@_exported public import ProcessSupport
