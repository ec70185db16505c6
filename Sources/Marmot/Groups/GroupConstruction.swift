public import MLS
public import Nostr
import TLSCodec

/// Account to invite, with its verified key package.
public struct Invitee: Sendable {
    /// The key package with which the account is added.
    public let keyPackage: VerifiedKeyPackage
    /// The event that carried the key package.
    public let event: EventID
    /// The account's public key, which is the key package's credential.
    public let identity: PublicKey

    /// Reads an invitee from its key package event, whose signature the caller has verified.
    public init(_ event: Event, profile: MarmotProfile = .mip, now: UnixTime) throws(MarmotError) {
        self.init(event, try KeyPackageEvents.read(event, profile: profile, now: now))
    }

    init(_ event: Event, _ keyPackage: VerifiedKeyPackage) {
        self.keyPackage = keyPackage
        self.event = event.id
        self.identity = event.pubkey
    }

    func supports(proposal: UInt16) -> Bool {
        self.keyPackage.leafNode.capabilities.proposals.contains(proposal)
    }

    /// Whether the client supports leaving by SelfRemove.
    public var supportsSelfRemove: Bool { self.supports(proposal: MarmotProfile.mip.selfRemoveProposal) }

    /// Throws `MarmotError.Code.incompatible` unless the key package supports what `group` requires of its members,
    /// or, if `group` is nil, what a new group requires.
    public func requireSupport(of group: MarmotGroup?) throws(MarmotError) {
        if let group { return try self.requireSupport(of: group.mls.extensions) }
        try self.requireSupport(of: [Extension(type: MarmotProfile.mip.groupDataExtension, data: [])])
    }

    /// Throws `MarmotError.Code.incompatible` unless the key package supports what these extensions require.
    func requireSupport(of extensions: [Extension]) throws(MarmotError) {
        let capabilities = self.keyPackage.leafNode.capabilities
        var types = extensions.map(\.type.rawValue)
        var proposals: [UInt16] = []
        if let data = extensions.data(of: .requiredCapabilities),
            let required = try? RequiredCapabilities(tlsEncoded: data)
        {
            types += required.extensions
            proposals = required.proposals
        }
        // Every client supports extension types 1 to 5 and proposal types 1 to 7 (RFC 9420 §7.2).
        for type in types where type > 5 && !capabilities.extensions.contains(type) {
            throw self.missingCapability("extension", type)
        }
        for type in proposals where type > 7 && !capabilities.proposals.contains(type) {
            throw self.missingCapability("proposal", type)
        }
    }

    private func missingCapability(_ what: String, _ type: UInt16) -> MarmotError {
        MarmotError(
            .incompatible,
            "the key package of \(self.identity.hex.prefix(8)) lacks \(what) type \(type), which the group requires")
    }
}

/// Invitation ready to send: a kind 444 inner event for its recipient, to be gift-wrapped.
public struct DueWelcome: Sendable, Hashable {
    /// Account to which the gift wrap is addressed.
    public let recipient: PublicKey
    /// The kind 444 event, unsigned.
    public let rumor: UnsignedEvent

    /// Creates an invitation.
    package init(recipient: PublicKey, rumor: UnsignedEvent) {
        self.recipient = recipient
        self.rumor = rumor
    }
}

extension MarmotGroup {
    /// Creates a group (MIP-01). With invitees, its first commit is merged at once and never published; send the
    /// Welcomes once the group is stored.
    ///
    /// - Parameters:
    ///   - data: name, admins, relays; every admin must be a member, and the founder an admin.
    ///   - limits: sizes that the Welcomes must fit into.
    ///   - groupID: 16 random bytes by default, as in MDK.
    ///   - work: runs the encryption for the invitees.
    public static func create(
        _ data: GroupData, founder: PublicKey, inviting invitees: [Invitee], client: String,
        profile: MarmotProfile = .mip, limits: SizeLimits = .common, now: UnixTime, groupID: GroupID? = nil,
        using rng: inout some RandomNumberGenerator, work: any WorkExecutor = SerialWork()
    ) throws -> (group: MarmotGroup, welcomes: [DueWelcome]) {
        try data.validateForWriting()
        try self.validate(data, founder: founder, invitees)
        // Require what every invitee supports, so that later members must support it too
        // (docs/protocol/marmot.md §3.2).
        let selfRemove = profile.selfRemoveProposal
        let allSupportSelfRemove = !invitees.isEmpty && invitees.allSatisfy { $0.supports(proposal: selfRemove) }
        let required = RequiredCapabilities(
            extensions: [profile.groupDataExtension.rawValue], proposals: allSupportSelfRemove ? [selfRemove] : [])
        let member = try KeyPackageEvents.makeBundle(for: founder, profile: profile, now: now, using: &rng)
        let extensions = [
            Extension(type: profile.groupDataExtension, data: data.encoded()), required.asExtension,
        ]
        // V11-2: Every invitee supports what the group requires.
        for invitee in invitees { try invitee.requireSupport(of: extensions) }
        let groupID = groupID ?? GroupID((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &rng) })
        let mls = try MLSGroup.create(
            groupID: groupID, member: member, extensions: extensions, configuration: profile.groupConfiguration,
            using: &rng)
        var group = try MarmotGroup(mls, account: founder, profile: profile)
        guard !invitees.isEmpty else { return (group, []) }
        var request = CommitRequest()
        request.adding = invitees.map(\.keyPackage)
        let commit = try group.mls.commit(request, using: &rng, work: work)
        let welcomes = group.dueWelcomes(commit, invitees, client: client, now: now)
        if let welcome = welcomes.first { try limits.requireFit(of: welcome.rumor, members: invitees.count + 1) }
        group.advance(to: commit.next, data: group.data)
        return (group, welcomes)
    }

    private static func validate(_ data: GroupData, founder: PublicKey, _ invitees: [Invitee]) throws(MarmotError) {
        let identities = invitees.map(\.identity)
        guard data.isAdmin(founder) else { throw MarmotError(.notAdmin, "the founder must be an admin (MIP-01)") }
        guard !identities.contains(founder), Set(identities).count == identities.count else {
            throw MarmotError(.incompatible, "an invitee appears twice, or is the founder")
        }
        for admin in data.admins where admin != founder && !identities.contains(admin) {
            throw MarmotError(.notFound, "admin \(admin.hex.prefix(8)) is neither the founder nor invited (MIP-01)")
        }
    }

    func dueWelcomes(
        _ commit: PendingCommit, _ invitees: [Invitee], client: String, now: UnixTime
    ) -> [DueWelcome] {
        guard let welcome = commit.welcome else { return [] }
        return invitees.map { invitee in
            DueWelcome(
                recipient: invitee.identity,
                rumor: WelcomeEvents.rumor(
                    welcome, keyPackageEvent: invitee.event, relays: self.data.relays, client: client,
                    from: self.account, now: now))
        }
    }

    /// Maximum length of a group id: it is part of every stored row's key and appears in text; MDK uses 16 bytes.
    static let maximumGroupIDBytes = 255

    /// Joins a group by an invitation to one of the account's key packages (MIP-02). The inviter must be an admin and a
    /// member.
    public static func join(
        _ invitation: WelcomeEvents.Invitation, with bundle: KeyPackageBundle, account: PublicKey,
        profile: MarmotProfile = .mip, work: any WorkExecutor = SerialWork()
    ) throws(MarmotError) -> MarmotGroup {
        let reference = bundle.keyPackage.reference
        guard invitation.welcome.secrets.contains(where: { $0.newMember == reference }) else {
            throw MarmotError(.notForUs, "the Welcome holds no secrets for this key package (MIP-02)")
        }
        let mls: MLSGroup
        do {
            mls = try MLSGroup.join(
                invitation.welcome, with: bundle, configuration: profile.groupConfiguration, work: work)
        } catch { throw MarmotError(error.code == .epochTooHigh ? .epochTooHigh : .mls, "Welcome: \(error)") }
        guard (1...Self.maximumGroupIDBytes).contains(mls.groupID.bytes.count) else {
            throw MarmotError(.badGroupData, "the MLS group id has \(mls.groupID.bytes.count) bytes, expected 1 to 255")
        }
        let group = try MarmotGroup(mls, account: account, profile: profile)
        guard try mls.ownLeaf.identity() == account else {
            throw MarmotError(.identityMismatch, "the key package belongs to another account")
        }
        guard group.members.contains(invitation.inviter), group.data.isAdmin(invitation.inviter) else {
            throw MarmotError(.notAdmin, "the inviter is not an admin of the group it invites to (MIP-02)")
        }
        return group
    }
}
