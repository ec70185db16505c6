/// Framing of a message (RFC 9420 §6, §17.2).
public enum WireFormat: UInt16, Sendable {
    /// `mls_public_message`: a ``PublicMessage``.
    case publicMessage = 1
    /// `mls_private_message`: a ``PrivateMessage``.
    case privateMessage = 2
    /// `mls_welcome`: a ``Welcome``.
    case welcome = 3
    /// `mls_group_info`: a ``GroupInfo``.
    case groupInfo = 4
    /// `mls_key_package`: a ``KeyPackage``.
    case keyPackage = 5
}

/// Content type of a framed message (RFC 9420 §6).
public enum ContentType: UInt8, Sendable {
    /// Application data.
    case application = 1
    /// A ``Proposal``.
    case proposal = 2
    /// A ``Commit``.
    case commit = 3
}
