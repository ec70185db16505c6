import MLS
import Marmot
import Nostr
import PikaCore

/// Remarks on a key package that this software accepts but others may refuse, and on wrong claims of its event.
extension ExaminedKeyPackage {
    /// Maximum lifetime that OpenMLS accepts: 84 days, and an hour for clocks that are behind.
    private static let longestLifetime = KeyPackageEvents.lifetime + KeyPackageEvents.backdating

    var remarks: [String] {
        switch invitee {
        case .first(let invitee):
            formRemarks + packageRemarks(invitee) + tagRemarks(invitee.keyPackage.leafNode.capabilities)
        case .second(let invitee): componentRemarks(invitee)
        case nil: []
        }
    }

    /// Whether it uses an event format that predates the current MIP-00.
    var hasLegacyFormat: Bool { generation == .v1 && !formRemarks.isEmpty }

    private var formRemarks: [String] {
        var remarks: [String] = []
        if event.firstTag("mls_protocol_version")?.value == "1" {
            remarks.append("tag mls_protocol_version is 1, expected 1.0")
        }
        if event.firstTag("mls_ciphersuite")?.value == "1" {
            remarks.append("tag mls_ciphersuite is 1, expected 0x0001")
        }
        if !event.tags(named: "encoding").contains(where: { $0.value?.lowercased() == "base64" }) {
            remarks.append(
                "no tag encoding with the value base64, which MDK requires"
                    + (Hex.decode(event.content) == nil ? "" : "; the content is hexadecimal"))
        }
        return remarks
    }

    private func packageRemarks(_ invitee: Invitee) -> [String] {
        var remarks: [String] = []
        let package = invitee.keyPackage.keyPackage
        if !package.extensions.contains(where: { $0.type == .lastResort }) {
            remarks.append("no last_resort extension (0x000a), so one invitation consumes it")
        }
        if let lifetime, lifetime.notAfter >= lifetime.notBefore,
            // checked: the end is not before the beginning.
            lifetime.notAfter - lifetime.notBefore > Self.longestLifetime
        {
            remarks.append("the lifetime exceeds the 84 days that MDK accepts")
        }
        if event.kind == .keyPackage, event.firstTag("i") == nil {
            remarks.append("no tag i, which MDK 0.7 requires")
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
            return "tag \(name) lists values that the key package does not support"
        }
    }

    /// Returns remarks on a key package of the second generation.
    private func componentRemarks(_ invitee: ComponentInvitee) -> [String] {
        var remarks: [String] = []
        if !invitee.keyPackage.keyPackage.isLastResort {
            remarks.append("no last_resort component (0x0004), so one invitation consumes it")
        }
        let slot = event.firstTag("d")?.value ?? ""
        if Bytes32(hex: slot) == nil || slot.lowercased() != slot {
            remarks.append("tag d is not 64 lower-case hexadecimal digits, as the specification requires")
        }
        let common = GroupRequirement.whiteNoise
        if let missing = invitee.support.missing(
            extensions: common.extensions, proposals: common.proposals, components: common.components)
        {
            remarks.append("lacks \(missing), which groups of White Noise require")
        }
        if event.firstTag("encoding") != nil { remarks.append("has a tag encoding, which belongs to v1") }
        return remarks
    }

    private static func text(_ number: UInt16) -> String {
        Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)]).withPrefix("0x")
    }
}

extension String {
    fileprivate func withPrefix(_ prefix: String) -> String { prefix + self }
}
