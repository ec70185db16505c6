import Nostr
import PikaCore
import TLSCodec

@testable import MLS
@testable import Marmot

/// Malicious members who have all keys.
extension Target {
    /// Damaged MLS messages in a valid outer layer.
    static func groupMessage(_ world: World) throws -> Target {
        Target(
            "group-message",
            [Reader(world.handshakes.map(\.message)) { _ = world.deliver(try world.wrap($0)) }])
    }

    /// Any content under valid signatures and tags: messages, proposals, commits, leaves.
    static func member(_ world: World) throws -> Target {
        let commits = world.handshakes.compactMap(\.commit)
        let formats = [WireFormat.publicMessage, .privateMessage]
        var readers = [
            Reader([world.rumor.rumorJSON()]) { text in
                var mls = world.groups[0].mls
                var rng = RepeatableGenerator(seed: 8)
                _ = world.deliver(try world.wrap(try mls.protect(text, using: &rng)))
            },
            Reader([world.groups[3].mls.ownLeaf.tlsEncoded()]) { bytes in
                let leaf = try world.ownLeaf(like: try LeafNode(tlsEncoded: bytes), of: 3)
                world.proposeAndCommit(.update(leaf), by: 3, .privateMessage)
            },
        ]
        for format in formats {
            readers.append(
                Reader(world.proposals) { world.proposeAndCommit(try Proposal(tlsEncoded: $0), by: 3, format) })
            // An admin, and a member with few rights.
            for author in [0, 3] {
                readers.append(
                    Reader(commits) {
                        let commit = try Commit(tlsEncoded: $0)
                        _ = world.deliver(try world.wrap(try world.forged(.commit(commit), by: author, format)))
                    })
            }
        }
        return Target("member", readers)
    }

    /// Welcomes of a malicious inviter: the GroupInfo is signed and encrypted again, and its derived values (tree hash,
    /// confirmation tag) are recomputed.
    static func groupInfo(_ world: World) throws -> Target {
        var inviter = world.groups[0]
        var rng = RepeatableGenerator(seed: 9)
        let invitee = try Invitee(world.newcomerEvents[0], now: world.now)
        _ = try inviter.commit(.add([invitee]), client: "fuzz", now: world.now, using: &rng)
        _ = try inviter.mergePending()
        let seeds = [try inviter.mls.groupInfo(includesTree: true).tlsEncoded()]
        let signer = inviter.mls.signatureKey
        func reader(fits: Bool, pathSecret: Secret?) -> Reader {
            Reader(seeds) { bytes in
                let info = try GroupInfo(tlsEncoded: bytes)
                let welcome = try world.welcome(
                    with: info, signedBy: signer, fits: fits, pathSecret: pathSecret)
                let invitation = WelcomeEvents.Invitation(
                    inviter: world.keys[0].publicKey, welcome: welcome, relays: [world.relay], createdAt: world.now)
                var group = try MarmotGroup.join(
                    invitation, with: world.newcomer, account: world.newcomerKeys.publicKey)
                // A member that joined must be able to operate.
                var rng = RepeatableGenerator(seed: 10)
                var rumor = world.rumor
                rumor.pubkey = world.newcomerKeys.publicKey
                _ = try group.seal(rumor, now: world.now, using: &rng)
                _ = try? group.commit(.selfUpdate, client: "fuzz", now: world.now, using: &rng)
                _ = group.ingest(world.genuine, now: world.now)
            }
        }
        return Target(
            "group-info",
            [
                reader(fits: true, pathSecret: nil), reader(fits: false, pathSecret: nil),
                reader(fits: true, pathSecret: Secret([UInt8](repeating: 5, count: 32))),
            ])
    }
}

extension World {
    fileprivate func ownLeaf(like leaf: LeafNode, of member: Int) throws -> LeafNode {
        let mls = self.groups[member].mls
        return try LeafNode(
            encryptionKey: leaf.encryptionKey, credential: leaf.credential, capabilities: leaf.capabilities,
            source: leaf.source, extensions: leaf.extensions,
            position: .init(groupID: mls.groupID, leafIndex: mls.ownLeafIndex), signedBy: mls.signatureKey)
    }

    /// Sends a proposal to two members; one commits its pending proposals, the other applies the commit.
    fileprivate func proposeAndCommit(_ proposal: Proposal, by member: Int, _ format: WireFormat) {
        var rng = RepeatableGenerator(seed: 11)
        var proposer = self.groups[member].mls
        guard let message = try? proposer.propose(proposal, wireFormat: format, using: &rng).message,
            let event = try? self.wrap(message)
        else { return }
        var admin = self.deliver(event, to: 1).mls
        var request = CommitRequest()
        request.references = admin.pendingProposals.map(\.reference)
        request.now = UInt64(self.now.seconds)
        guard !request.references.isEmpty, let commit = try? admin.commit(request, using: &rng).message,
            let committed = try? self.wrap(commit)
        else { return }
        var group = self.deliver(event)
        _ = group.ingest(committed, now: self.now)
    }

    /// A message with a valid signature and, as a PublicMessage, a valid membership tag; the confirmation tag of a
    /// commit is invalid.
    fileprivate func forged(
        _ body: FramedContent.Body, by member: Int, _ wireFormat: WireFormat
    ) throws -> [UInt8] {
        var mls = self.groups[member].mls
        let content = mls.frame(body, [])
        let signed = try mls.sign(content, wireFormat)
        let authenticated = AuthenticatedContent(
            wireFormat: wireFormat, content: content, signature: signed.signature,
            confirmationTag: [UInt8](repeating: 0, count: 32))
        var rng = RepeatableGenerator(seed: 12)
        return try mls.send(authenticated, using: &rng)
    }

    fileprivate func welcome(
        with info: GroupInfo, signedBy key: SignaturePrivateKey, fits: Bool, pathSecret: Secret?
    ) throws -> Welcome {
        let suite = CipherSuite.x25519AES128GCM
        let joiner = Secret([UInt8](repeating: 7, count: 32))
        let pskSecret = try suite.pskSecret([])
        var context = info.context
        var tag = info.confirmationTag
        if fits {
            let encoded = info.extensions.data(of: .ratchetTree) ?? []
            var tree = try RatchetTree(cipherSuite: suite, encoded: encoded)
            context = GroupContext(
                cipherSuite: context.cipherSuite, groupID: context.groupID, epoch: context.epoch,
                treeHash: tree.rootHash(), confirmedTranscriptHash: context.confirmedTranscriptHash,
                extensions: context.extensions)
            let schedule = KeySchedule(
                suite, joinerSecret: joiner, pskSecret: pskSecret, context: context.tlsEncoded())
            tag = suite.hash.hmac(key: schedule.secrets.confirmation, context.confirmedTranscriptHash)
        }
        let signed = try GroupInfo(
            context: context, extensions: info.extensions, confirmationTag: tag, signer: info.signer, signedBy: key)
        let messageKey = Welcome.key(
            suite, welcomeSecret: KeySchedule.welcomeSecret(suite, joinerSecret: joiner, pskSecret: pskSecret))
        let encrypted = try suite.aead.seal(
            signed.tlsEncoded(), key: messageKey.key, nonce: messageKey.nonce.copyBytes(), additionalData: [])
        let hpke = HPKE(suite)
        var rng = RepeatableGenerator(seed: 13)
        let secrets = try hpke.seal(
            GroupSecrets(joinerSecret: joiner, pathSecret: pathSecret, psks: []).encoded(),
            to: self.newcomer.keyPackage.initKey, info: hpke.encryptContext(label: "Welcome", context: encrypted),
            using: &rng)
        let entry = EncryptedGroupSecrets(
            newMember: self.newcomer.keyPackage.reference, encryptedGroupSecrets: secrets)
        return Welcome(cipherSuite: suite, secrets: [entry], encryptedGroupInfo: encrypted)
    }
}
