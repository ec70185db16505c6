package import Nostr

/// Compares a relay's NIP-11 limits with the needs of encrypted groups.
package enum RelayRequirements {
    /// Enough for a key package or a commit in a small group, and its frame.
    static let leastMessageBytes = 16_384
    /// The event size that groups stay within (``Marmot/SizeLimits/common``), and its frame.
    static let commonMessageBytes = 65_536
    /// Group messages, gift wraps, the instance's own events, and one per concurrent query.
    static let leastSubscriptions = 5
    /// Tags of a key package event.
    static let leastTags = 12
    /// Gift wraps are dated up to two days in the past (NIP-59).
    static let backdating = 2 * 86_400

    /// - Parameter canLogIn: Whether there is a key to log in with (NIP-42).
    package static func judge(_ limits: RelayInformation.Limitation, canLogIn: Bool, into findings: inout FindingList) {
        let before = findings.all.count
        judgeSizes(limits, &findings)
        judgeAccess(limits, canLogIn, &findings)
        judgeTimes(limits, &findings)
        if findings.all.count == before {
            findings.ok("limits", "the advertised limits suffice")
        }
    }

    private static func judgeSizes(_ limits: RelayInformation.Limitation, _ findings: inout FindingList) {
        let sizes = [("max_message_length", limits.maxMessageLength), ("max_content_length", limits.maxContentLength)]
        for case (let name, let size?) in sizes where size < commonMessageBytes {
            let text = "accepts messages of up to \(size) bytes (\(name))"
            if size < leastMessageBytes {
                findings.error("limits", "\(text), too few for groups", "use another relay")
            } else if size < commonMessageBytes - 4096 {
                findings.warning(
                    "limits", "\(text), too few for invitations to larger groups",
                    "use a relay that accepts \(commonMessageBytes) bytes if groups have more than a dozen members")
            }
        }
        if let most = limits.maxSubscriptions, most < leastSubscriptions {
            findings.warning(
                "limits", "allows \(most) concurrent subscriptions; \(leastSubscriptions) are needed",
                "use another relay")
        }
        if let most = limits.maxEventTags, most < leastTags {
            findings.error(
                "limits", "accepts at most \(most) tags per event; key packages have more", "use another relay")
        }
    }

    private static func judgeAccess(
        _ limits: RelayInformation.Limitation, _ canLogIn: Bool, _ findings: inout FindingList
    ) {
        if let bits = limits.minProofOfWork, bits > 0 {
            findings.error(
                "limits", "requires proof of work (\(bits) bits), which is not supported", "use another relay")
        }
        if limits.authenticationRequired == true, !canLogIn {
            findings.warning(
                "limits", "requires authentication (NIP-42)",
                "not tried, because the account's key is not available here")
        }
        if limits.paymentRequired == true {
            findings.warning(
                "limits", "requires payment for writing",
                "pay for the account; group messages come from throwaway keys, which some such relays refuse")
        }
        // The restriction may just be the required login.
        if limits.restrictedWrites == true, limits.authenticationRequired != true {
            findings.warning(
                "limits", "restricts who may write (restricted_writes)",
                "group messages and invitations come from throwaway keys: see below whether it accepts them")
        }
    }

    private static func judgeTimes(_ limits: RelayInformation.Limitation, _ findings: inout FindingList) {
        if let oldest = limits.createdAtLowerLimit, oldest > 0, oldest < backdating {
            findings.error(
                "limits", "refuses events older than \(oldest) s; invitations are dated up to two days back (NIP-59)",
                "use another relay for invitations")
        }
    }
}
