import Nostr
import ProbeReports

/// Judges whether an information document (NIP-11) is true.
enum InformationCheck {
    /// Reports claims of the document that the relay's behaviour has disproved and that no other phase reports.
    static func judge(_ information: RelayInformation?, hasWritten writes: Bool, into phases: inout RelayPhases) {
        guard let limits = information?.limitation else { return }
        var claims: [String] = []
        if limits.authenticationRequired == true, !phases.report.wantsLogin,
            writes || phases.hasPassed(.subscribe)
        {
            claims.append("auth_required is set, but it requests no authentication")
        }
        if limits.paymentRequired == true, writes {
            claims.append("payment_required is set, but it accepts events of unknown keys")
        }
        if let bits = limits.minProofOfWork, bits > 0, writes {
            claims.append("min_pow_difficulty is \(bits), but it accepts events without proof of work")
        }
        if let size = limits.maxMessageLength, size < EventSizes.common, phases.hasPassed(.size) {
            claims.append("max_message_length is \(size), but it accepts \(EventSizes.common) bytes")
        }
        if let size = limits.maxMessageLength, size >= EventSizes.common, phases.hasFault(.sizeLimit) {
            claims.append("max_message_length is \(size), but it refuses \(EventSizes.common) bytes")
        }
        if let most = limits.maxLimit, most >= 3, phases.hasFault(.fewEvents) {
            claims.append("max_limit is \(most), but it returns fewer events")
        }
        guard !claims.isEmpty else { return }
        phases.fail(
            .informationFalse, .information, .warning, since: .now,
            "contradicts its NIP-11 document: \(claims.joined(separator: "; "))",
            "tell its operator: clients rely on this document")
    }
}

/// Message sizes that groups need.
enum EventSizes {
    /// Maximum size of messages that clients send to groups, in bytes.
    static let common = RelayRequirements.commonMessageBytes
    /// Minimum that a relay must accept for small groups, in bytes.
    static let least = RelayRequirements.leastMessageBytes
}
