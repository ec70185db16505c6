import MLS
public import Nostr
import TLSCodec

/// GroupContext extensions for changes of a group's settings (MIP-01, docs/protocol/marmot.md §3.2, §3.5).
extension MarmotGroup {
    /// Capabilities that the group requires of every member; empty if the extension is missing or malformed.
    var requirements: RequiredCapabilities {
        guard let data = self.mls.extensions.data(of: .requiredCapabilities),
            let required = try? RequiredCapabilities(tlsEncoded: data)
        else { return RequiredCapabilities() }
        return required
    }

    /// Members whose leaf does not support SelfRemove: they joined with an older client and have not updated their leaf
    /// since they upgraded it.
    public var membersWithoutSelfRemove: [PublicKey] {
        let type = self.profile.selfRemoveProposal
        let lacking = self.mls.members.filter { !$0.leaf.capabilities.proposals.contains(type) }
        return Set(lacking.compactMap { try? $0.leaf.identity() }).sorted()
    }

    /// Returns the extensions with SelfRemove added to the required capabilities.
    ///
    /// - Throws: `MarmotError.Code.incompatible` while a member lacks it; `MarmotError.Code.unchanged` if it is
    ///   already required.
    func upgradedExtensions() throws(MarmotError) -> [Extension] {
        var required = self.requirements
        let type = self.profile.selfRemoveProposal
        guard !required.proposals.contains(type) else {
            throw MarmotError(.unchanged, "the group already requires proposal type \(type)")
        }
        let lacking = self.membersWithoutSelfRemove
        guard lacking.isEmpty else {
            let names = lacking.map { $0.hex.prefix(8) }.joined(separator: ", ")
            throw MarmotError(
                .incompatible,
                "these members do not support proposal type \(type) yet and must update their keys: \(names)")
        }
        required.proposals.append(type)
        if !required.extensions.contains(self.profile.groupDataExtension.rawValue) {
            required.extensions.append(self.profile.groupDataExtension.rawValue)
        }
        let others = self.mls.extensions
        guard let position = others.firstIndex(where: { $0.type == .requiredCapabilities }) else {
            return others + [required.asExtension]
        }
        var extensions = others
        extensions[position] = required.asExtension
        return extensions
    }

    /// Returns the extensions without this account among the admins.
    ///
    /// - Throws: `MarmotError.Code.noAdminLeft` if no other admin is a member.
    func demotedExtensions() throws(MarmotError) -> [Extension] {
        let members = Set(self.members)
        var data = self.data
        data.admins.removeAll { $0 == self.account || !members.contains($0) }
        guard !data.admins.isEmpty else {
            throw MarmotError(
                .noAdminLeft,
                "the last admin cannot demote itself unless it makes another member an admin first (MIP-01)"
            )
        }
        return self.extensions(with: data)
    }

    /// Returns all extensions with the group data replaced: a GroupContextExtensions proposal must resend every one
    /// (docs/protocol/marmot.md §3.5).
    func extensions(with data: GroupData) -> [Extension] {
        self.mls.extensions.map { entry in
            entry.type == self.profile.groupDataExtension
                ? Extension(type: entry.type, data: data.encoded()) : entry
        }
    }

    /// Returns the extensions without the removed admins, for the commit that removes them; nil if none of them is an
    /// admin.
    func extensions(withoutAdmins keys: [PublicKey]) -> [Extension]? {
        guard keys.contains(where: self.data.isAdmin) else { return nil }
        var data = self.data
        data.admins.removeAll(where: keys.contains)
        return self.extensions(with: data)
    }
}
