import MLS
import Marmot
import Nostr

/// Remarks on a key package that this software accepts but others may refuse, and on wrong claims of its event.
extension ExaminedKeyPackage {
    /// The longest lifetime that OpenMLS accepts: 84 days, and an hour for clocks that are behind.
    private static let longestLifetime = KeyPackageEvents.lifetime + KeyPackageEvents.backdating

    var remarks: [String] {
        guard let invitee else { return [] }
        return formRemarks + packageRemarks(invitee) + tagRemarks(invitee.keyPackage.leafNode.capabilities)
    }

    /// Whether it has the format from before the present MIP-00.
    var hasOldForm: Bool { !formRemarks.isEmpty }

    private var formRemarks: [String] {
        var remarks: [String] = []
        if event.firstTag("mls_protocol_version")?.value == "1" { remarks.append("the version is written 1, not 1.0") }
        if event.firstTag("mls_ciphersuite")?.value == "1" { remarks.append("the suite is written 1, not 0x0001") }
        if !event.tags(named: "encoding").contains(where: { $0.value?.lowercased() == "base64" }) {
            remarks.append(
                "the content is not declared as Base64, which MDK refuses"
                    + (Hex.decode(event.content) == nil ? "" : "; it is hexadecimal"))
        }
        return remarks
    }

    private func packageRemarks(_ invitee: Invitee) -> [String] {
        var remarks: [String] = []
        let package = invitee.keyPackage.keyPackage
        if !package.extensions.contains(where: { $0.type == .lastResort }) {
            remarks.append("it is not marked as a last resort (extension 0x000a), so one invitation uses it up")
        }
        if let lifetime, lifetime.notAfter >= lifetime.notBefore,
            // checked: the end is not before the beginning.
            lifetime.notAfter - lifetime.notBefore > Self.longestLifetime
        {
            remarks.append("its lifetime is longer than the 84 days that MDK accepts")
        }
        if event.kind == .keyPackage, event.firstTag("i") == nil {
            remarks.append("it has no tag i, without which MDK 0.7 refuses it")
        }
        return remarks
    }

    /// Returns remarks on tags that contradict the key package.
    private func tagRemarks(_ capabilities: Capabilities) -> [String] {
        let extensions = capabilities.extensions.map(Self.text)
        let proposals = capabilities.proposals.map(Self.text)
        return [("mls_extensions", extensions), ("mls_proposals", proposals)].compactMap { name, supported in
            let stated = event.firstTag(name)?.values.dropFirst().map { $0.lowercased() } ?? []
            guard stated.contains(where: { !supported.contains($0) }) else { return nil }
            return "tag \(name) names what its key package does not support"
        }
    }

    private static func text(_ number: UInt16) -> String {
        Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)]).withPrefix("0x")
    }
}

extension String {
    fileprivate func withPrefix(_ prefix: String) -> String { prefix + self }
}
