import LiveTesting
import TLSCodec
import Testing

@testable import MLS

/// Requirements of RFC 9420 §12.4.3.1 for a Welcome.
struct JoinRefusals {
    private var party: Party
    private let bundle: KeyPackageBundle
    private let added: PendingCommit
    private let joiner: Secret
    private let welcome: Welcome

    init() throws {
        var party = try Party(4)
        for committer in party.present { try party.commit(by: committer) }
        let bundle = try party.bundle("newcomer")
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        self.added = try party.members[0].commit(request, using: &party.rng)
        guard case .welcome(let welcome) = try MLSMessage(#require(self.added.welcome)) else {
            throw MLSError(.malformed, "not a Welcome")
        }
        let hpke = HPKE(party.suite)
        let opened = try hpke.open(
            welcome.secrets[0].encryptedGroupSecrets, with: bundle.initKey,
            info: hpke.encryptContext(label: "Welcome", context: welcome.encryptedGroupInfo))
        self.joiner = try GroupSecrets(tlsEncoded: opened.copyBytes()).joinerSecret
        (self.party, self.bundle, self.welcome) = (party, bundle, welcome)
    }

    /// A Welcome with this content, encrypted with the correct keys.
    private func forged(
        tree: [UInt8]? = nil, context: GroupContext? = nil, signer: LeafIndex = LeafIndex(0),
        signatureKey: SignaturePrivateKey? = nil, confirmationTag: [UInt8]? = nil, pathSecret: Secret? = nil,
        preSharedKeys: [PreSharedKeyID] = [], extraExtensions: [Extension] = []
    ) throws -> Welcome {
        var rng = SplitMix64(seed: 7)
        let group = self.added.next
        let suite = group.cipherSuite
        let info = try GroupInfo(
            context: context ?? group.context,
            extensions: [Extension(type: .ratchetTree, data: tree ?? group.encodedRatchetTree)] + extraExtensions,
            confirmationTag: confirmationTag ?? group.confirmationTag, signer: signer,
            signedBy: signatureKey ?? group.signatureKey)
        let psk = try suite.pskSecret(preSharedKeys.map { PreSharedKey(id: $0, secret: .empty) })
        let key = Welcome.key(
            suite, welcomeSecret: KeySchedule.welcomeSecret(suite, joinerSecret: self.joiner, pskSecret: psk))
        let sealed = try suite.aead.seal(
            info.tlsEncoded(), key: key.key, nonce: key.nonce.copyBytes(), additionalData: [])
        let hpke = HPKE(suite)
        let secrets = GroupSecrets(joinerSecret: self.joiner, pathSecret: pathSecret, psks: preSharedKeys)
        return Welcome(
            cipherSuite: suite,
            secrets: [
                EncryptedGroupSecrets(
                    newMember: self.bundle.keyPackage.reference,
                    encryptedGroupSecrets: try hpke.seal(
                        secrets.encoded(), to: self.bundle.initKey.publicKey,
                        info: hpke.encryptContext(label: "Welcome", context: sealed), using: &rng))
            ], encryptedGroupInfo: sealed)
    }

    private func expect(
        _ code: MLSError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ welcome: () throws -> Welcome
    ) {
        expectError(code, sourceLocation: sourceLocation) { _ = try MLSGroup.join(welcome(), with: self.bundle) }
    }

    /// The context with the tree hash of `tree`.
    private func context(_ tree: RatchetTree, extensions: [Extension]? = nil) -> GroupContext {
        var (tree, context) = (tree, self.added.next.context)
        context.treeHash = tree.rootHash()
        if let extensions { context.extensions = extensions }
        return context
    }

    private func expect(
        _ code: MLSError.Code, tree: RatchetTree, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        self.expect(code, sourceLocation: sourceLocation) {
            try self.forged(tree: tree.encoded(), context: self.context(tree))
        }
    }

    @Test func s12_4_3_1_forgeryHelperMakesValidWelcome() throws {
        let joined = try MLSGroup.join(self.forged(), with: self.bundle)
        #expect(joined.epochAuthenticator == self.added.next.epochAuthenticator)
    }

    @Test func x4_6_groupInfoHasNoDictionary() throws {
        let components = GroupConfiguration(rules: GroupRules(requiresComponents: true))
        _ = try MLSGroup.join(self.forged(), with: self.bundle, configuration: components)
        let forged = try self.forged(extraExtensions: [AppDataDictionary().asExtension])
        _ = try MLSGroup.join(forged, with: self.bundle)
        expectError(.invalidWelcome) {
            _ = try MLSGroup.join(forged, with: self.bundle, configuration: components)
        }
    }

    @Test func s12_4_3_1_refusesWelcomeForAnotherMember() throws {
        var party = self.party
        let other = try party.bundle("other")
        expectError(.invalidWelcome) { _ = try MLSGroup.join(self.welcome, with: other) }
        let p256 = try KeyPackageBundle.generate(
            .p256AES128GCM, credential: .basic(identity: [1]), capabilities: Capabilities(cipherSuites: [2]),
            lifetime: Party.lifetime, signatureKey: .generate(.p256AES128GCM, using: &party.rng), using: &party.rng)
        expectError(.invalidWelcome) { _ = try MLSGroup.join(self.welcome, with: p256) }
    }

    @Test func s12_4_3_1_refusesTamperedCiphertexts() throws {
        var info = self.welcome.encryptedGroupInfo
        info[5] ^= 1
        self.expect(.decryptionFailed) {
            Welcome(cipherSuite: self.welcome.cipherSuite, secrets: self.welcome.secrets, encryptedGroupInfo: info)
        }
        self.expect(.unsupportedCipherSuite) {
            Welcome(
                cipherSuite: CipherSuite(rawValue: 6), secrets: self.welcome.secrets,
                encryptedGroupInfo: self.welcome.encryptedGroupInfo)
        }
    }

    @Test func s12_4_3_1_groupAndWelcomeShareCipherSuite() throws {
        var context = self.added.next.context
        context.cipherSuite = .x25519ChaCha20Poly1305
        self.expect(.invalidWelcome) { try self.forged(context: context) }
    }

    @Test func s12_4_3_1_requiresSignatureByMember() throws {
        self.expect(.invalidWelcome) { try self.forged(signer: LeafIndex(7)) }
        self.expect(.invalidWelcome) { try self.forged(signer: LeafIndex(rawValue: .max)) }
        self.expect(.badSignature) { try self.forged(signer: LeafIndex(1)) }
        self.expect(.badSignature) { try self.forged(signatureKey: self.party.members[2].signatureKey) }
    }

    @Test func s12_4_3_1_refusesTreeWithWrongHash() throws {
        var context = self.added.next.context
        context.treeHash[0] ^= 1
        self.expect(.invalidTree) { try self.forged(context: context) }
        self.expect(.invalidTree) { try self.forged(tree: self.party.members[0].encodedRatchetTree) }
    }

    @Test func s12_4_3_3_refusesUndecodableTree() throws {
        self.expect(.malformed) { try self.forged(tree: [3, 1]) }
        self.expect(.invalidTree) { try self.forged(tree: [0]) }
        self.expect(.invalidTree) { try self.forged(tree: [1, 0]) }
        // A blank node at the end.
        let nodes = Array(self.added.next.encodedRatchetTree.dropFirst(2)) + [0]
        var writer = TLSWriter()
        writer.writeOpaque(nodes)
        self.expect(.invalidTree) { try self.forged(tree: writer.bytes) }
    }

    @Test func s7_9_2_requiresValidParentHashes() throws {
        for position in [1, 3, 5] {
            var tree = self.added.next.tree
            guard let parent = tree.parent(NodeIndex(position)) else { continue }
            var hash = parent.parentHash
            if hash.isEmpty { hash = [1] } else { hash[0] ^= 1 }
            tree.set(
                .parent(
                    ParentNode(
                        encryptionKey: parent.encryptionKey, parentHash: hash, unmergedLeaves: parent.unmergedLeaves)),
                at: NodeIndex(position))
            self.expect(.invalidTree, tree: tree)
        }
        var tree = self.added.next.tree
        var rng = SplitMix64(seed: 8)
        let key = try HPKEPrivateKey.generate(tree.cipherSuite, using: &rng).publicKey
        tree.set(.parent(ParentNode(encryptionKey: key, parentHash: [], unmergedLeaves: [])), at: NodeIndex(3))
        self.expect(.invalidTree, tree: tree)
    }

    @Test(arguments: [[5], [0, 4], [4, 4], [3], [2, 1], [0xFFFF_FFFF]] as [[UInt32]])
    func s12_4_3_1_refusesInvalidUnmergedLeaves(_ leaves: [UInt32]) throws {
        var tree = self.added.next.tree
        let root = try #require(tree.parent(NodeIndex(3)))
        tree.set(
            .parent(
                ParentNode(encryptionKey: root.encryptionKey, parentHash: root.parentHash, unmergedLeaves: leaves)),
            at: NodeIndex(3))
        self.expect(.invalidTree, tree: tree)
    }

    @Test func s7_3_refusesInvalidLeaves() throws {
        let member = self.party.members[2]
        var rng = SplitMix64(seed: 9)
        let fresh = try HPKEPrivateKey.generate(member.cipherSuite, using: &rng).publicKey
        func tree(_ leaf: LeafNode) -> RatchetTree {
            var tree = self.added.next.tree
            // Blank parents above, so that only the leaf is invalid.
            for position in [1, 3, 5, 7] where tree.parent(NodeIndex(position)) != nil {
                tree.set(.blank, at: NodeIndex(position))
            }
            tree.set(.leaf(leaf), at: LeafIndex(2).node)
            return tree
        }
        var unsigned = try member.forgedLeaf(encryptionKey: fresh).tlsEncoded()
        unsigned[unsigned.count - 1] ^= 1
        self.expect(.badSignature, tree: tree(try LeafNode(tlsEncoded: unsigned)))
        self.expect(
            .invalidKey, tree: tree(try member.forgedLeaf(encryptionKey: [UInt8](repeating: 0, count: 32))))
        self.expect(
            .invalidLeafNode,
            tree: tree(try member.forgedLeaf(encryptionKey: fresh, capabilities: Capabilities(cipherSuites: [2]))))
        self.expect(
            .invalidTree, tree: tree(try member.forgedLeaf(encryptionKey: self.party.members[1].ownLeaf.encryptionKey)))
        self.expect(
            .invalidTree,
            tree: tree(
                try member.forgedLeaf(encryptionKey: fresh, signatureKey: self.party.members[1].signatureKey)))
    }

    @Test func s12_4_3_1_requiresOwnLeafInTree() throws {
        var tree = self.added.next.tree
        tree.remove(LeafIndex(4))
        tree.truncate()
        self.expect(.invalidWelcome, tree: tree)
    }

    @Test func s12_4_3_1_refusesPathSecretThatMismatchesTree() throws {
        self.expect(.invalidCommit) { try self.forged(pathSecret: Secret(repeatElement(1, count: 32))) }
    }

    @Test func s12_4_3_1_refusesWrongConfirmationTag() throws {
        var tag = self.added.next.confirmationTag
        tag[0] ^= 1
        self.expect(.badConfirmationTag) { try self.forged(confirmationTag: tag) }
        // Another joiner secret changes all keys; another context only the tag.
        var context = self.added.next.context
        context.epoch = context.epoch.later(by: 1)
        self.expect(.badConfirmationTag) { try self.forged(context: context) }
    }

    @Test func s13_4_joinerMustSupportGroupExtensions() throws {
        for entry in [
            Extension(type: .init(rawValue: 0xF00D), data: []),
            RequiredCapabilities(proposals: [0xF00D]).asExtension,
        ] {
            self.expect(.invalidLeafNode) {
                try self.forged(context: self.context(self.added.next.tree, extensions: [entry]))
            }
        }
        let entry = Extension(type: .applicationID, data: [])
        self.expect(.invalidWelcome) {
            try self.forged(context: self.context(self.added.next.tree, extensions: [entry, entry]))
        }
        self.expect(.invalidWelcome) { try self.forged(extraExtensions: [entry, entry]) }
    }

    @Test func s12_4_3_1_ignoresUnknownGroupInfoExtensions() throws {
        let joined = try MLSGroup.join(
            self.forged(extraExtensions: [Extension(type: .init(rawValue: 0x1A1A), data: [1])]), with: self.bundle)
        #expect(joined.epoch == self.added.next.epoch)
    }

    @Test(arguments: [0, 16, 31, 33, 64])
    func s8_4_refusesPSKNonceOfWrongLength(_ count: Int) throws {
        let id = PreSharedKeyID(key: .external(id: [1]), nonce: [UInt8](repeating: 0, count: count))
        let known = [PreSharedKey(id: id, secret: .empty)]
        let welcome = try self.forged(preSharedKeys: [id])
        expectError(.invalidWelcome) {
            _ = try MLSGroup.join(welcome, with: self.bundle, preSharedKeys: known)
        }
    }

    @Test func s12_4_3_1_refusesUnknownOrMisusedPSKs() throws {
        let nonce = [UInt8](repeating: 0, count: 32)
        let external = PreSharedKeyID(key: .external(id: [1]), nonce: nonce)
        self.expect(.unknownPSK) { try self.forged(preSharedKeys: [external]) }
        self.expect(.invalidWelcome) { try self.forged(preSharedKeys: [external, external]) }
        for usage in [PreSharedKeyID.ResumptionUsage.reinit, .branch] {
            self.expect(.unsupported) {
                try self.forged(
                    preSharedKeys: [
                        PreSharedKeyID(key: .resumption(usage: usage, groupID: [1], epoch: 1), nonce: nonce)
                    ])
            }
        }
    }
}
