/// Framing of a message (RFC 9420 §6, §17.2).
public enum WireFormat: UInt16, Sendable {
    case publicMessage = 1
    case privateMessage = 2
    case welcome = 3
    case groupInfo = 4
    case keyPackage = 5
}

/// Content type of a framed message (RFC 9420 §6).
public enum ContentType: UInt8, Sendable {
    case application = 1
    case proposal = 2
    case commit = 3
}
