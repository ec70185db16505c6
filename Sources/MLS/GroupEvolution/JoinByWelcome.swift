import TLSCodec

extension MLSGroup {
    /// Joins by a Welcome (RFC 9420 §12.4.3.1). The caller must check that it has no other group with this group id.
    ///
    /// - Parameters:
    ///   - welcome: a Welcome with secrets for the key package.
    ///   - bundle: the key package by which this member was added, with its private keys.
    ///   - ratchetTree: the encoded tree if the Welcome does not include it.
    ///   - preSharedKeys: external PSKs that this member knows.
    ///   - configuration: this member's limits and padding, and the group's rules.
    ///   - work: runs the verification of the leaves.
    public static func join(
        _ welcome: Welcome, with bundle: KeyPackageBundle, ratchetTree: [UInt8]? = nil,
        preSharedKeys: [PreSharedKey] = [], configuration: GroupConfiguration = .init(),
        work: any WorkExecutor = SerialWork()
    ) throws(MLSError) -> MLSGroup {
        try self.open(
            welcome, with: bundle, ratchetTree: ratchetTree, preSharedKeys: preSharedKeys,
            configuration: configuration, work: work
        ).group
    }

    /// Joins as ``join(_:with:ratchetTree:preSharedKeys:configuration:work:)`` and names the member that signed the Welcome's
    /// GroupInfo, for applications in which only some members may invite.
    public static func open(
        _ welcome: Welcome, with bundle: KeyPackageBundle, ratchetTree: [UInt8]? = nil,
        preSharedKeys: [PreSharedKey] = [], configuration: GroupConfiguration = .init(),
        work: any WorkExecutor = SerialWork()
    ) throws(MLSError) -> OpenedWelcome {
        let suite = welcome.cipherSuite
        try suite.requireSupported()
        try bundle.requireMatchingKeys()
        let (groupSecrets, keys) = try self.openSecrets(welcome, bundle, preSharedKeys)
        let pskSecret = try suite.pskSecret(keys)
        let groupInfo = try self.openGroupInfo(welcome, groupSecrets.joinerSecret, pskSecret)
        var tree = try self.ratchetTree(groupInfo, ratchetTree)
        try self.validate(groupInfo, &tree, configuration.rules, work)
        // V12.4.3.1-10: This member's leaf is in the tree.
        guard let index = tree.members.first(where: { $0.leaf == bundle.keyPackage.leafNode })?.index else {
            throw MLSError(.invalidWelcome, "this member's leaf is not in the tree (RFC 9420 §12.4.3.1)")
        }
        var own = PrivateTree(leafIndex: index, leafKey: bundle.encryptionKey)
        if let pathSecret = groupSecrets.pathSecret {
            guard let ancestor = tree.shape.commonAncestor(index, groupInfo.signer) else {
                throw MLSError(.invalidWelcome, "the Welcome is signed by this member itself")
            }
            let path = tree.filteredDirectPath(of: groupInfo.signer).map(\.node).filter { $0.level >= ancestor.level }
            // V12.4.3.1-11: Keys derived from the path secret match the tree.
            _ = try tree.deriveUpward(pathSecret, path: path, own: &own)
        }
        let context = groupInfo.context
        let schedule = KeySchedule(
            suite, joinerSecret: groupSecrets.joinerSecret, pskSecret: pskSecret, context: context.tlsEncoded())
        let tag = suite.hash.hmac(key: schedule.secrets.confirmation, context.confirmedTranscriptHash)
        // V12.4.3.1-12: The confirmation tag matches.
        guard constantTimeEqual(tag, groupInfo.confirmationTag) else {
            throw MLSError(.badConfirmationTag, "the Welcome's confirmation tag does not match (RFC 9420 §12.4.3.1)")
        }
        let group = MLSGroup(
            context: context, tree: tree, own: own, signatureKey: bundle.signatureKey, secrets: schedule.secrets,
            confirmationTag: tag, configuration: configuration)
        return OpenedWelcome(group: group, signer: groupInfo.signer)
    }

    private static func openSecrets(
        _ welcome: Welcome, _ bundle: KeyPackageBundle, _ known: [PreSharedKey]
    ) throws(MLSError) -> (GroupSecrets, [PreSharedKey]) {
        // V12.4.3.1-1: The Welcome is of the key package's suite.
        guard bundle.keyPackage.cipherSuite == welcome.cipherSuite else {
            throw MLSError(
                .invalidWelcome,
                "the Welcome's suite is \(welcome.cipherSuite), the key package's is \(bundle.keyPackage.cipherSuite)")
        }
        let reference = bundle.keyPackage.reference
        // V12.4.3.1-1: The Welcome has secrets for the key package.
        guard let entry = welcome.secrets.first(where: { $0.newMember == reference }) else {
            throw MLSError(.invalidWelcome, "the Welcome holds no secrets for this key package")
        }
        let hpke = HPKE(welcome.cipherSuite)
        let info = hpke.encryptContext(label: "Welcome", context: welcome.encryptedGroupInfo)
        // V12.4.3.1-2: The group secrets decrypt.
        var bytes = try hpke.open(entry.encryptedGroupSecrets, with: bundle.initKey, info: info).copyBytes()
        defer { bytes.wipe() }
        let secrets: GroupSecrets
        do { secrets = try GroupSecrets(tlsEncoded: bytes) } catch { throw MLSError(decoding: "GroupSecrets", error) }
        guard Set(secrets.psks).count == secrets.psks.count else {
            throw MLSError(.invalidWelcome, "the Welcome contains a PSK twice")
        }
        var keys: [PreSharedKey] = []
        for id in secrets.psks {
            // V8.4-4: The psk_nonce has KDF.Nh bytes.
            guard id.nonce.count == welcome.cipherSuite.hashLength else {
                throw MLSError(
                    .invalidWelcome,
                    "a psk_nonce of the Welcome has \(id.nonce.count) bytes, not \(welcome.cipherSuite.hashLength) "
                        + "(RFC 9420 §8.4)")
            }
            // V11.2-1: PSKs of usage reinit and branch are refused.
            if case .resumption(let usage, _, _) = id.key, usage != .application {
                throw MLSError(.unsupported, "a resumption PSK with usage \(usage) is not supported (RFC 9420 §11)")
            }
            // V12.4.3.1-3: Every PSK is known.
            guard let key = known.first(where: { $0.id.key == id.key }) else {
                throw MLSError(.unknownPSK, "the Welcome names a PSK that this member does not have")
            }
            keys.append(PreSharedKey(id: id, secret: key.secret))
        }
        return (secrets, keys)
    }

    private static func openGroupInfo(
        _ welcome: Welcome, _ joinerSecret: Secret, _ pskSecret: Secret
    ) throws(MLSError) -> GroupInfo {
        let suite = welcome.cipherSuite
        let key = Welcome.key(
            suite,
            welcomeSecret: KeySchedule.welcomeSecret(suite, joinerSecret: joinerSecret, pskSecret: pskSecret))
        // V12.4.3.1-2: The GroupInfo decrypts.
        let bytes = try suite.aead.open(
            welcome.encryptedGroupInfo, key: key.key, nonce: key.nonce.copyBytes(), additionalData: [])
        let info: GroupInfo
        do { info = try GroupInfo(tlsEncoded: bytes) } catch { throw MLSError(decoding: "GroupInfo", error) }
        // V12.4.3.1-4: The suite of the GroupInfo is that of the key package.
        guard info.context.cipherSuite == suite else {
            throw MLSError(
                .invalidWelcome, "the group's suite is \(info.context.cipherSuite), the Welcome's is \(suite)")
        }
        guard info.context.epoch <= .highestJoinable else {
            throw MLSError(
                .epochTooHigh,
                "the Welcome is for epoch \(info.context.epoch), the highest allowed is \(Epoch.highestJoinable)")
        }
        return info
    }

    private static func ratchetTree(_ info: GroupInfo, _ separate: [UInt8]?) throws(MLSError) -> RatchetTree {
        // V12.4.3-1: Unknown GroupInfo extensions are ignored.
        guard let bytes = info.extensions.data(of: .ratchetTree) ?? separate else {
            throw MLSError(.invalidWelcome, "the Welcome contains no ratchet tree, and none was supplied")
        }
        return try RatchetTree(cipherSuite: info.context.cipherSuite, encoded: bytes)
    }

    private static func validate(
        _ info: GroupInfo, _ tree: inout RatchetTree, _ rules: GroupRules, _ work: any WorkExecutor
    ) throws(MLSError) {
        guard let signer = tree.leaf(info.signer) else {
            throw MLSError(.invalidWelcome, "the signer's leaf \(info.signer) is blank (RFC 9420 §12.4.3.1)")
        }
        // V12.4.3-4: The GroupInfo's signature verifies with the signer's leaf.
        guard info.hasValidSignature(publicKey: signer.signatureKey) else {
            throw MLSError(.badSignature, "the GroupInfo's signature does not verify (RFC 9420 §12.4.3.1)")
        }
        // V12.4.3.1-5: The tree's hash is that of the GroupContext.
        guard tree.rootHash() == info.context.treeHash else {
            throw MLSError(.invalidTree, "the ratchet tree does not match the tree hash (RFC 9420 §12.4.3.1)")
        }
        guard !info.context.extensions.hasDuplicates, !info.extensions.hasDuplicates else {
            throw MLSError(.invalidWelcome, "a GroupContext or GroupInfo extension type appears twice (RFC 9420 §13.4)")
        }
        // X4.6-3: A GroupInfo has no dictionary of its own.
        guard !rules.requiresComponents || info.extensions.data(of: .appDataDictionary) == nil else {
            throw MLSError(.invalidWelcome, "the GroupInfo has an app_data_dictionary, which the group's rules exclude")
        }
        try tree.validate(
            groupID: info.context.groupID, extensions: info.context.extensions, rules: rules, with: work)
    }
}
